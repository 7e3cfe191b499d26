// Questions to oracles, answers of peers, and who signed an answer.
import {
  type AttestationKind,
  attestationKinds,
  type SignatureContext,
  verifyAttestation,
} from '@causeway/attestations'
import type { Signer } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { expect } from 'vitest'
import { z } from 'zod'
import { signedBy } from '../../../apps/oracle/test/peerSupport/attestations.ts'
import { type Oracle, type OracleWorld, operatorKey } from './oracleWorld.ts'

export type Answered = {
  readonly status: number
  readonly headers: Headers
  readonly body: ReturnType<typeof JSON.parse>
  readonly elapsedMs: number
}
export type SentHeaders = Readonly<Record<string, string>>

export const deposits = '/attestations/depository-deposits/v1'
export const withKey: SentHeaders = { 'x-api-key': operatorKey }

let strangers = 0
/** Somebody without a key, at an address of its own: the first oracle believes its proxy, which is this machine. */
export function stranger(): SentHeaders {
  strangers += 1
  return { 'x-forwarded-for': `10.0.${strangers >> 8}.${strangers & 255}` }
}

/** @param body default: a GET */
export async function ask(
  { url }: Pick<Oracle, 'url'>,
  path: string,
  body?: object | string,
  headers: SentHeaders = withKey,
): Promise<Answered> {
  const startedAtMs = performance.now()
  const answer = await fetch(`${url}${path}`, {
    redirect: 'manual',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: answer.status,
    headers: answer.headers,
    body: isJson ? JSON.parse(text) : text,
    elapsedMs: performance.now() - startedAtMs,
  }
}

/** With what peers sign; the body of a success. */
export async function askWithPeers(
  oracle: Oracle,
  path: string,
  body: object,
  headers: SentHeaders = withKey,
): Promise<Answered> {
  return ask(oracle, path, { ...body, requestPeerSignatures: true }, headers)
}

const described = <Response>(kind: AttestationKind<Response>) => ({
  path: kind.path,
  name: kind.name,
  sign: (answer: unknown, by: readonly Signer[], under: SignatureContext): Promise<unknown> =>
    signedBy(kind, kind.responseSchema.parse(answer), by, under),
  /** Addresses of those who signed every array of an answer, out of those asked for. */
  verify: (answer: unknown, signers: readonly string[], { hub, networkOf }: SignatureContext) =>
    verifyAttestation(answer, { kind, hub, networkOf, signers, threshold: 1, recover: recoverSigner }),
})
const kinds = [
  described(attestationKinds.deposits),
  described(attestationKinds.withdrawals),
  described(attestationKinds.fills),
  described(attestationKinds.refunds),
  described(attestationKinds['withdrawal-initiation']),
  described(attestationKinds['withdrawal-initiation-v2']),
  described(attestationKinds['withdrawal-initiated']),
  described(attestationKinds['withdrawal-initiated-v2']),
]

export function kindOf(path: string) {
  const kind = kinds.find((one) => one.path === path)
  if (kind === undefined) throw new Error(`nothing is attested at ${path}`)
  return kind
}

/** The names of those who signed every array of an answer, in the order A, B, C, X; all others count as nobody. */
export function signersOf(
  { signers, context }: OracleWorld,
  path: string,
  { status, body }: Answered,
): string {
  expect([status, body]).toEqual([200, expect.anything()])
  const addresses = Object.values(signers).map(({ address }) => address)
  const { signers: found, problems } = kindOf(path).verify(body, addresses, context)
  expect(problems).toEqual([])
  return Object.entries(signers)
    .filter(([, { address }]) => found.includes(address))
    .map(([name]) => name)
    .join('')
}

/** True if one oracle signed every array of an answer, and nobody else anything. */
export function isSignedBy(
  { context }: OracleWorld,
  path: string,
  { body }: Answered,
  { signer }: Oracle,
): boolean {
  const { signers, problems } = kindOf(path).verify(body, [signer.address], context)
  return signers.length === 1 && problems.length === 0
}

const lineShape = z.looseObject({ level: z.union([z.string(), z.number()]), event: z.string().optional() })

/** Lines that an oracle logged since the call, by the name of their event. */
export function logOf({ process }: Oracle) {
  const from = process.output().length
  const lines = () =>
    process
      .output()
      .slice(from)
      .split('\n')
      .flatMap((line) => {
        if (!line.startsWith('{')) return []
        const parsed = lineShape.safeParse(JSON.parse(line))
        return parsed.success ? [parsed.data] : []
      })
  return {
    /** Waits: a log is written behind the answer. */
    async has(event: string, fields: object = {}): Promise<void> {
      await expect
        .poll(() => lines().filter((line) => line.event === event), { timeout: 20_000, interval: 30 })
        .toContainEqual(expect.objectContaining(fields))
    },
    text: () => process.output().slice(from),
  }
}
