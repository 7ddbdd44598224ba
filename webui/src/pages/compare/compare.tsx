export default function CompareCompare() {
  return <h1>Being built</h1>;
}
