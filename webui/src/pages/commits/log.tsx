export default function CommitsLog() {
  return <h1>Being built</h1>;
}
