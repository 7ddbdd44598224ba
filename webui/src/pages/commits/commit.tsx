export default function CommitsCommit() {
  return <h1>Being built</h1>;
}
