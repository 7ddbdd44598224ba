export default function PullsCreate() {
  return <h1>Being built</h1>;
}
