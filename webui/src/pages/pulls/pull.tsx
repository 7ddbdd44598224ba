export default function PullsPull() {
  return <h1>Being built</h1>;
}
