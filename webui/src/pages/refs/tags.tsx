export default function RefsTags() {
  return <h1>Being built</h1>;
}
