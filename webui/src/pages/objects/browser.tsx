export default function ObjectsBrowser() {
  return <h1>Being built</h1>;
}
