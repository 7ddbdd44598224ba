export default function AccessFrame() {
  return <h1>Being built</h1>;
}
