/** A card whose issue is not there any more, or not for the person who looks. */

export function GoneCard({ id }: { readonly id: string }) {
  return (
    <article className="card gone">
      <p>{id} is not here: it was deleted, is in another workspace, or is not for you to see.</p>
    </article>
  )
}
