import { attestationKinds, type DepositsResponse } from '@causeway/attestations'
import type { Hex } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { type Aggregation, createAggregation } from '../../src/peers/aggregation.ts'
import { context, depositsBody, depositsOf, type SignerName, signed, signers } from './attestations.ts'

const kind = attestationKinds.deposits
const ABC = ['A', 'B', 'C'] as const
const payloads = { K1: depositsOf(['1000']), K2: depositsOf(['2000']), K3: depositsOf(['3000']) }

/** Text `K1 A B`: the payload, and who signs it; with `held` they hold its execution. */
export async function said(text: string): Promise<DepositsResponse> {
  const words = text.split(' ').filter((word) => word !== 'held')
  const payload = words[0] === 'K1' ? payloads.K1 : words[0] === 'K2' ? payloads.K2 : payloads.K3
  const by = (['A', 'B', 'C', 'X'] as const).filter((name) => words.includes(name))
  return signed(kind, text.includes('held') ? kind.withoutExecution(payload) : payload, by)
}

/** Counts for oracle A, with a list of signers. */
export function aggregationOf(threshold: number, listed: readonly SignerName[] = ABC) {
  return withSigners(threshold, new Set<Hex>(listed.map((name) => signers[name].address)))
}

/** @param listed `undefined`: no list, so that every signer counts */
export function withSigners(threshold: number, listed: ReadonlySet<Hex> | undefined) {
  return createAggregation({
    kind,
    context,
    recover: recoverSigner,
    policy: { signers: listed, threshold },
    ownSigner: signers.A.address,
    request: depositsBody,
  })
}

/** Adds the own answer, then those of the peers `one`, `two` and so on. @returns whether each completed a quorum */
export async function addAll(
  aggregation: Aggregation<DepositsResponse>,
  own: string | undefined,
  peers: readonly string[],
): Promise<readonly boolean[]> {
  const added = own === undefined ? [] : [aggregation.add(await said(own), undefined)]
  const names = ['one', 'two', 'three', 'four']
  for (const [index, text] of peers.entries())
    added.push(aggregation.add(await said(text), { peer: names[index] ?? '' }))
  return added
}

/** Amount of the first deposit, by which payloads differ. */
export const amountOf = (response: DepositsResponse | undefined) => response?.messages[0]?.result.amount
/** Names of those who signed the first message. */
export function namesIn(response: DepositsResponse | undefined): string {
  const addresses = response?.messages[0]?.signatures.map(({ oracleSigner }) => oracleSigner) ?? []
  const names = Object.entries(signers).filter(([, { address }]) => addresses.includes(address))
  return names.map(([name]) => name).join(' ')
}
