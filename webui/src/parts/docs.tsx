/** Names the page of the documentation that says more. It has no address yet, so this is no link. */
export function Docs({ page }: { page: string }) {
  return (
    <>
      {' '}
      More in <code class="small">docs/{page}</code>.
    </>
  );
}
