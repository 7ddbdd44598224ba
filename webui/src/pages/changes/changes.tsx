export default function ChangesChanges() {
  return <h1>Being built</h1>;
}
