export default function ObjectsHistory() {
  return <h1>Being built</h1>;
}
