export default function RefsBranches() {
  return <h1>Being built</h1>;
}
