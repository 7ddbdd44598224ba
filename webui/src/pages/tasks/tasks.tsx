export default function TasksTasks() {
  return <h1>Being built</h1>;
}
