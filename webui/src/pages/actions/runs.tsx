export default function ActionsRuns() {
  return <h1>Being built</h1>;
}
