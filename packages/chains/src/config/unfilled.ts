// A drafted configuration file has such words in place of values that only its operator, or a deployment, knows.
const byHand = 'fill in by hand: '
const byDeploying = 'fill in by contracts deploy: '
const zeroAddress = `0x${'0'.repeat(40)}`

/** Text for a value that only the operator knows. */
export function fillInByHand(subject: string): string {
  return `${byHand}${subject}`
}

/** Text for a contract address that `contracts deploy --write` fills in. */
export function fillInByDeploying(contract: string): string {
  return `${byDeploying}the address of ${contract}`
}

/** A place that is still to be filled in, e.g. `chains[0].depository`, and the words that stand there. */
export type UnfilledPlace = { readonly path: string; readonly words: string }

/** Every place of a parsed file that is still to be filled in. */
export function unfilledPlaces(json: unknown, path = ''): readonly UnfilledPlace[] {
  // The beginning of both texts is enough, so that a place with edited words is found as well.
  if (typeof json === 'string') return json.startsWith('fill in ') ? [{ path, words: json }] : []
  if (Array.isArray(json)) return json.flatMap((member, index) => unfilledPlaces(member, `${path}[${index}]`))
  if (typeof json !== 'object' || json === null) return []
  return Object.entries(json).flatMap(([name, member]) =>
    unfilledPlaces(member, path === '' ? name : `${path}.${name}`),
  )
}

/** Advice about a place that is to be filled in. */
export function adviceOnFilling(words: string): string {
  return words.startsWith(byDeploying)
    ? 'Run npm run causeway -- contracts deploy with --settlement and --write for this chain, or write the address.'
    : 'Write the value into the file in the place of these words: docs/operating/configuration.md#files-of-your-own.'
}

/**
 * A parsed file as the command that deploys reads it, before it writes the addresses. The zero address stands for each
 * address that it will write; in the quote file, whose contract addresses are optional, the member is left out.
 */
export function withoutDeployedAddresses(name: string, json: unknown): unknown {
  if (typeof json === 'string') return json.startsWith(byDeploying) ? zeroAddress : json
  if (Array.isArray(json)) return json.map((member) => withoutDeployedAddresses(name, member))
  if (typeof json !== 'object' || json === null) return json
  const members = Object.entries(json).filter(
    ([, member]) => name !== 'quote' || typeof member !== 'string' || !member.startsWith(byDeploying),
  )
  return Object.fromEntries(members.map(([key, member]) => [key, withoutDeployedAddresses(name, member)]))
}
