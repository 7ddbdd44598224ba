export default function SettingsFrame() {
  return <h1>Being built</h1>;
}
