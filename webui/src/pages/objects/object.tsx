export default function ObjectsObject() {
  return <h1>Being built</h1>;
}
