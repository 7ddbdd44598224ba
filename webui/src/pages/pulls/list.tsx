export default function PullsList() {
  return <h1>Being built</h1>;
}
