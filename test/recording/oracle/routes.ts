// The routes of an oracle by themselves: what they are refused for before a fact is read, and what else there is.
import type { Session } from '../support/session.ts'
import type { OracleStage } from '../support/stage.ts'
import { operatorKey, peerKey } from '../support/world.ts'

const attestations = [
  ...['depository-deposits/v1', 'depository-withdrawals/v1', 'depository-withdrawals/v2', 'solver-fills/v1'],
  ...['solver-refunds/v1', 'withdrawal-initiation/v1', 'withdrawal-initiation/v2'],
  ...['withdrawal-initiated/v1', 'withdrawal-initiated/v2'],
  ...['recover/v1', 'signatures/no-fill-or-refund/v1', 'signatures/nonce-mapping/v2'],
].map((name) => `/attestations/${name}`)

const badBodies: readonly (readonly [string, object | string])[] = [
  ['no members', {}],
  ['a list', '[]'],
  ['half a JSON', '{"chainId": "ba'],
  ['nothing', ''],
  [
    'members of other types',
    { chainId: 1, transactionId: 2, order: 'x', withdrawal: 3, inputs: {}, requestPeerSignatures: 'yes' },
  ],
]

export async function recordOracleRoutes({ oracle }: OracleStage): Promise<void> {
  await oracle.ask({ name: 'the first page', path: '/' })
  await oracle.ask({ name: 'is alive', path: '/lives/v1' })
  await oracle.ask({ name: 'is ready', path: '/lives/ready/v1' })
  await oracle.ask({ name: 'chains', path: '/chains/v1' })
  for (const path of attestations) {
    for (const [name, body] of badBodies) await oracle.ask({ name: `${path}: ${name}`, path, body })
  }
  await recordMisdirected(oracle)
  const path = '/attestations/depository-deposits/v1'
  const transactionId = `0x${'61'.repeat(32)}`
  const deposits = (name: string, body: object, headers: Record<string, string> = {}) =>
    oracle.ask({ name: `deposits: ${name}`, path, body, headers })
  await deposits('an unknown chain', { chainId: 'moon', transactionId })
  await deposits('a chain named like an object member', { chainId: '__proto__', transactionId })
  await deposits('an unknown transaction', { chainId: 'base', transactionId })
  await deposits('a transaction of another form', { chainId: 'base', transactionId: 'x' })
  await deposits('fast', { chainId: 'base', transactionId, mode: 'fast' })
  await deposits('slow', { chainId: 'base', transactionId, mode: 'slow' })
  await deposits('force, which it does not know', { chainId: 'base', transactionId, force: true })
  await deposits('an unknown key', { chainId: 'base', transactionId }, { 'x-api-key': 'unknown' })
  await deposits('the key of a peer', { chainId: 'base', transactionId }, { 'x-api-key': peerKey })
}

async function recordMisdirected(oracle: Session): Promise<void> {
  const path = '/attestations/depository-deposits/v1'
  const type = { 'content-type': 'text/plain' }
  await oracle.ask({ name: 'text', path, body: '{}', headers: type })
  await oracle.ask({
    name: 'a body above the limit',
    path,
    body: JSON.stringify({ chainId: 'a'.repeat(1_100_000) }),
  })
  await oracle.ask({ name: 'GET of a route of POST', path })
  await oracle.ask({ name: 'POST of a route of GET', path: '/chains/v1', body: {} })
  await oracle.ask({ name: 'HEAD', method: 'HEAD', path: '/chains/v1' })
  await oracle.ask({ name: 'OPTIONS', method: 'OPTIONS', path })
  await oracle.ask({ name: 'no such route', path: '/attestations/depository-deposits/v2' })
  await oracle.ask({
    name: 'headers above the limit',
    path: '/chains/v1',
    headers: { 'x-long': 'a'.repeat(20_000) },
  })
}

/** It takes no `force`, and three callers without a key in an hour. */
export async function recordSecondOracle({ secondOracle, world }: OracleStage): Promise<void> {
  const path = '/attestations/solver-fills/v1'
  const { firstDeposit } = world.families.facts.solana
  const body = { chainId: 'solana', transactionId: firstDeposit.transactionId }
  const deposits = (name: string, headers?: Record<string, string>) =>
    secondOracle.ask({
      name,
      path: '/attestations/depository-deposits/v1',
      body,
      ...(headers !== undefined && { headers }),
    })
  await deposits('with a key', { 'x-api-key': operatorKey })
  await secondOracle.ask({
    name: 'force that is off, malformed',
    path,
    body: { force: true },
    headers: { 'x-api-key': operatorKey },
  })
  await deposits('the first without a key')
  await deposits('the second without a key')
  await deposits('the third without a key')
  await deposits('the fourth without a key')
  await deposits('with a key after all', { 'x-api-key': operatorKey })
  await secondOracle.ask({ name: 'chains after the limit', path: '/chains/v1' })
  await secondOracle.ask({ name: 'is alive after the limit', path: '/lives/v1' })
}
