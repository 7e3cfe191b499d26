// Goal: oracles at their signing caps among others: who holds the execution still counts for the message, and
// nobody can make the others' execution disappear. Method: real HTTP peers, as in peerScenarios.test.ts.
import {
  attestationKinds,
  type DepositsResponse,
  verifyAttestation,
  type WithdrawalInitiationResponse,
} from '@causeway/attestations'
import { mainNetwork } from '@causeway/core/encodings'
import { recoverSigner } from '@causeway/signer'
import { expect, onTestFinished, test } from 'vitest'
import { type Harness, type HarnessOptions, startHarness } from '../../test/peerSupport/aggregatorHarness.ts'
import {
  context,
  depositsBody,
  depositsOf,
  type SignerName,
  signed,
  signers,
} from '../../test/peerSupport/attestations.ts'
import { createGate } from '../../test/peerSupport/httpPeer.ts'

const kind = attestationKinds.deposits
const ABC = ['A', 'B', 'C'] as const
const full = depositsOf(['1000'])
const whole = (...by: SignerName[]) => signed(kind, full, by)
const held = (...by: SignerName[]) => signed(kind, kind.withoutExecution(full), by)
const answering = (response: Promise<unknown>) => async () => ({ body: await response })

async function harness(options: HarnessOptions): Promise<Harness> {
  const started = await startHarness(options)
  onTestFinished(() => started.stop())
  return started
}

function run({ aggregator }: Harness, local: () => Promise<DepositsResponse>, body: object = depositsBody) {
  return aggregator.run({ kind, body, local, signal: new AbortController().signal })
}

function namesOf(entries: readonly { readonly oracleSigner: string }[] | undefined): readonly string[] {
  const names = Object.entries(signers).map(([name, { address }]) => [address, name] as const)
  return (entries ?? [])
    .map(({ oracleSigner }) => new Map<string, string>(names).get(oracleSigner) ?? '?')
    .sort()
}

/** Signers of the message and of the execution. */
const signersOf = ({ messages, execution }: DepositsResponse) => [
  namesOf(messages[0]?.signatures),
  execution && namesOf(execution.signatures),
]

test.each<[string, () => Promise<DepositsResponse>, readonly Promise<DepositsResponse>[]]>([
  ['here', () => held('A'), [whole('B'), whole('C')]],
  ['at a peer', () => whole('A'), [held('B'), whole('C')]],
])('a quorum for the execution is answered although one is held %s', async (_where, local, peers) => {
  const started = await harness({ peers: peers.map(answering), allowed: ABC, threshold: 2 })
  const { response, matched } = await run(started, local)
  const executing = signersOf(response)[1]
  expect([matched, executing]).toEqual([2, signersOf(response)[0]])
  expect(executing).not.toContain(_where === 'here' ? 'A' : 'B')
  expect(response).not.toHaveProperty('executionHeld')
})

test('P-102: where no quorum for the execution is left, the message has that of everybody', async () => {
  const peers = [answering(held('B')), answering(whole('C'))]
  const started = await harness({ peers, allowed: ABC, threshold: 2 })
  const { response, matched, required } = await run(started, () => held('A'))
  expect(response.executionHeld).toBe('SIGNING_CAP')
  expect([matched, required, ...signersOf(response)]).toEqual([3, 2, ['A', 'B', 'C'], undefined])
  const list = ABC.map((name) => signers[name].address)
  const terms = { kind, hub: context.hub, networkOf: context.networkOf, recover: recoverSigner }
  expect(verifyAttestation(response, { ...terms, signers: list, threshold: 3 })).toMatchObject({
    isQuorum: true,
    isExecutionHeld: true,
  })
  const events = started.lines.map(({ event, peer }) => [event, peer])
  expect(events).toEqual([['peer_held', expect.any(String)]])
  expect(started.outcomes.map(({ outcome }) => outcome).sort()).toEqual(['held', 'merged'])
})

test('without an allowlist who holds counts its peers for the message', async () => {
  const started = await harness({ peers: [answering(whole('B')), answering(held('C'))] })
  const { response } = await run(started, () => held('A'))
  expect([response.executionHeld, ...signersOf(response)]).toEqual([
    'SIGNING_CAP',
    ['A', 'B', 'C'],
    undefined,
  ])
})

test('P-102: a peer that strips the execution off the answers of others, first of all, hides it from nobody', async () => {
  const gate = createGate()
  const late = async () => {
    await gate.opened
    return { body: await whole('C') }
  }
  const peers = [answering(held('A', 'B', 'C')), late]
  const started = await harness({ peers, allowed: ABC, threshold: 2 })
  const running = run(started, () => whole('A'))
  await expect
    .poll(() => started.peers.every(({ questions }) => questions.length === 1), { timeout: 30_000 })
    .toBe(true)
  gate.open()
  const { response } = await running
  expect(signersOf(response)).toEqual([
    ['A', 'C'],
    ['A', 'C'],
  ])
})

test('and what no signature covers does not change with it: one answer without execution is one voice', async () => {
  const later = {
    ...kind.withoutExecution(full),
    messages: full.messages.map((message) => ({ ...message, extraData: { timestamp: '1800000000' } })),
  }
  const peers = [answering(signed(kind, later, ABC)), answering(held('C'))]
  const started = await harness({ peers, allowed: ABC, threshold: 2 })
  const { response, matched } = await run(started, () => held('A'))
  expect([matched, response.messages[0]?.extraData.timestamp]).toEqual([2, '1700000000'])
})

test('an answer that is held about another fact, or about nothing, has no part', async () => {
  const another = depositsOf(['1000'], `0x${'bb'.repeat(32)}`)
  const empty = { messages: [], executionHeld: 'SIGNING_CAP' }
  const peers = [
    answering(signed(kind, kind.withoutExecution(another), ['B'])),
    answering(Promise.resolve(empty)),
  ]
  const started = await harness({ peers, allowed: ABC, threshold: 2 })
  const { response } = await run(started, () => held('A'))
  expect(signersOf(response)).toEqual([['A'], undefined])
})

test('where nothing is left to sign, the own word that it is held is passed on', async () => {
  const initiation = attestationKinds['withdrawal-initiation']
  const response: WithdrawalInitiationResponse = {
    withdrawalAddress: `0x${'6e'.repeat(20)}`,
    executionHeld: 'SIGNING_CAP',
  }
  const started = await harness({ peers: [answering(Promise.resolve({}))], allowed: ABC, threshold: 2 })
  const body = { chainId: 'ethereum', vmType: mainNetwork('ethereum-vm').vmType, requestPeerSignatures: true }
  const { signal } = new AbortController()
  const answered = started.aggregator.run({ kind: initiation, body, local: async () => response, signal })
  expect(await answered).toMatchObject({ response, matched: 0, required: 2 })
})
