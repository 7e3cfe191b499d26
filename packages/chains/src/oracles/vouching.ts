import type { Hex, MappingDomain, MappingEntry } from '@causeway/core'
import type { EntryProof } from '@causeway/families'
import type { MappingEntryRequest, OracleAnswer, OracleClient } from './oracleClient.ts'

/** Oracles that vouch for entries of the hub's generic mapping, that is, sign them; and how the hub checks them. */
export type VouchingOracles<Asked extends keyof OracleClient = 'attestMapping'> = {
  readonly oracles: readonly Pick<OracleClient, Asked>[]
  /** Oracles that have to vouch. */
  readonly threshold: number
  readonly domain: MappingDomain
  /** The hub's contract that checks several oracles' signatures; undefined where one oracle's signature is enough. */
  readonly multisig: Hex | undefined
}

export type VouchedEntry = { readonly entry: MappingEntry; readonly proof: EntryProof }

/**
 * Asks all oracles to sign an entry.
 * @returns `denied` where an oracle refuses and none signs (one refusal is enough, since all judge the same bytes);
 * `silent` where too few sign otherwise
 */
export async function vouchForEntry<Asked extends keyof OracleClient>(
  { oracles, threshold, domain, multisig }: VouchingOracles<Asked>,
  entry: MappingEntry,
  ask: (oracle: Pick<OracleClient, Asked>, entry: MappingEntryRequest) => Promise<OracleAnswer>,
): Promise<VouchedEntry | 'denied' | 'silent'> {
  const request = { purpose: 'mapping-entry' as const, domain, entry }
  const answers = await Promise.all(oracles.map((oracle) => ask(oracle, request)))
  const vouched = answers.flatMap((one) => (one.said === 'signed' ? [one] : []))
  if (vouched.length < threshold)
    return vouched.length === 0 && answers.some(({ said }) => said === 'denied') ? 'denied' : 'silent'
  return { entry, proof: proofOf(vouched, multisig, domain.verifyingContract) }
}

/**
 * Oracles' signatures as the hub's contracts take them: with a multisig all, ascending by signer as it
 * demands; without one a single one, of the oracle that is named.
 * @param signed at least one, all for one entry or execution
 * @param contract named only if `signed` were empty, which no caller passes
 */
export function proofOf(
  signed: readonly Extract<OracleAnswer, { said: 'signed' }>[],
  multisig: Hex | undefined,
  contract: Hex,
): EntryProof {
  const ascending = signed.toSorted((one, other) => (one.signer < other.signer ? -1 : 1))
  const signatures = ascending.map((one) => one.signature as Hex) // CAST: their signer was recovered.
  const [single] = ascending
  return multisig === undefined && single !== undefined
    ? { oracle: single.signer, signatures: signatures.slice(0, 1) }
    : { oracle: multisig ?? contract, signatures }
}
