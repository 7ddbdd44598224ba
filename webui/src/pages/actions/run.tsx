export default function ActionsRun() {
  return <h1>Being built</h1>;
}
