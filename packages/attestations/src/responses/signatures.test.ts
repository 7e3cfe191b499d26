// Goal: every route's signatures stand where its payload says, in one spelling, and cover that payload alone. Method: the
// sample of each route, signed, respelt and held back.
import type { Hex } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { networkOf, repeated } from '../../../core/test/vectors/orders.ts'
import { sampleContext, sampleResponses } from '../../test/vectors/responses.ts'
import type { AttestationKind } from './attestationKind.ts'
import { attestationKinds } from './kinds.ts'
import { domainKey, messageArray, type SignatureContext } from './signatureArrays.ts'
import {
  type SignatureClaim,
  toExecutionSignatures,
  toMappingSignatures,
  toPayloadSignatures,
} from './signatureEntries.ts'

type AnyKind = Pick<
  AttestationKind<unknown>,
  | 'responseSchema'
  | 'signatureArrays'
  | 'withSignatures'
  | 'unsignedPayload'
  | 'normalise'
  | 'withoutExecution'
  | 'isHeld'
  | 'executionOf'
>
const signer = repeated('aa', 20)
const domain = { chainId: '7', contract: repeated('cc', 20) }
const { hub } = sampleContext

const samples = {
  ...sampleResponses,
  'withdrawals-v2': { status: 1, execution: sampleResponses.withdrawals.execution },
} as const

const paths: Readonly<Record<keyof typeof samples, readonly string[]>> = {
  'withdrawals-v2': ['execution.signatures'],
  deposits: ['messages.0.signatures', 'execution.signatures'],
  withdrawals: ['message.signatures', 'execution.signatures'],
  fills: ['message.signatures', 'execution.signatures'],
  refunds: ['message.signatures', 'execution.signatures'],
  'withdrawal-initiation': ['execution.signatures'],
  'withdrawal-initiated': ['payloadParams.signatures'],
  recovery: ['execution.signatures'],
  'nonce-mapping': ['genericMapping.signatures'],
  'no-fill-or-refund': ['genericMapping.signatures'],
}
// CAST: the keys are those of the type above.
const names = Object.keys(paths) as readonly (keyof typeof samples)[]

describe.each(names)('the answer of %s', (name) => {
  // CAST: each kind is used with its own responses alone.
  const kind = attestationKinds[name] as unknown as AnyKind
  const response = kind.responseSchema.parse(samples[name])
  const claimOf = (path: string): SignatureClaim => ({
    signer,
    signature: `signature of ${path}`,
    ...(!path.startsWith('message') && { domain }),
  })
  const signed = kind.withSignatures(response, (path) => [claimOf(path)])

  test('P-131: has signatures where its payload says, each over the payload and its domain', () => {
    const arrays = kind.signatureArrays(signed, sampleContext)
    expect(arrays.map(({ path }) => path)).toEqual(paths[name])
    for (const array of arrays) {
      const { path, claims, ownDomain } = array
      expect(claims).toEqual([claimOf(path)])
      const isMessage = path.startsWith('message')
      expect(ownDomain === undefined).toBe(isMessage)
      expect(array.requestOf(isMessage ? domain : undefined)).toBeUndefined()
      const own = array.digestOf(ownDomain)
      expect(own).toHaveLength(32)
      expect(array.digestOf(ownDomain)).toBe(own)
      if (isMessage) continue
      expect(array.digestOf(domain)).not.toEqual(own)
      const request = array.requestOf(domain)
      expect(request).toMatchObject({ domain: { chainId: 7, verifyingContract: domain.contract } })
      for (const chainId of ['9007199254740993', 'x'])
        expect(array.digestOf({ ...domain, chainId })).toBeUndefined()
    }
  })

  test('reads the entries of another answer, which are untrusted', () => {
    for (const array of kind.signatureArrays(signed, sampleContext)) {
      expect(() => array.readClaims([{ oracleSigner: 'nobody' }])).toThrow()
      expect(() => array.readClaims('x')).toThrow()
      expect(array.readClaims([])).toEqual([])
    }
    const again = kind.withSignatures(response, () => [])
    expect(kind.unsignedPayload(signed)).toBe(kind.unsignedPayload(again))
    expect(again).toEqual(response)
  })

  test('held back has no execution, whatever the reason', () => {
    const held = kind.withoutExecution(signed)
    expect([kind.isHeld(signed), kind.isHeld(held)]).toEqual([false, true])
    expect(kind.executionOf(held)).toBeUndefined()
    // Payload parameters and executions alike: what is held is signed by its messages at most.
    const signedParts = kind.signatureArrays(held, sampleContext).map(({ path }) => path)
    const isHoldable = !paths[name].includes('genericMapping.signatures')
    expect(signedParts).toEqual(
      isHoldable ? paths[name].filter((path) => path.startsWith('message')) : paths[name],
    )
    expect(kind.executionOf(signed) !== undefined).toBe(paths[name].includes('execution.signatures'))
    expect(held).not.toHaveProperty('execution')
    const otherwise = kind.withoutExecution(signed, 'ORDER_SETTLED')
    expect(otherwise).toMatchObject({ executionHeld: 'ORDER_SETTLED' })
    expect(kind.unsignedPayload(otherwise)).toBe(kind.unsignedPayload(held))
    expect(kind.unsignedPayload(held)).not.toBe(kind.unsignedPayload(signed))
    // An entry of the hub's mapping is no execution, and never held.
    if (!isHoldable) return
    expect(kind.normalise(held, networkOf)).toMatchObject({ executionHeld: 'SIGNING_CAP' })
  })
})

describe('P-131: one spelling', () => {
  const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}` as const
  const respelt = (value: unknown, kept: readonly string[], at = ''): unknown => {
    if (typeof value === 'string' && value.startsWith('0x') && !kept.some((name) => at.includes(name)))
      return upper(value)
    if (Array.isArray(value)) return value.map((item) => respelt(item, kept, at))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, respelt(item, kept, `${at}.${name}`)]),
    )
  }

  test.each(names)('of %s, whatever the case of its hex', (name) => {
    // CAST: each kind is used with its own responses alone.
    const kind = attestationKinds[name] as unknown as AnyKind
    // The caller's own words, which `isAbout` compares, stay as they are.
    const kept = [
      'transactionId',
      'order.',
      'orderSignature',
      'inputs',
      'refunds',
      'payloadParams.currency',
      'payloadParams.recipient',
      'payloadParams.depository',
    ]
    const one = kind.normalise(kind.responseSchema.parse(samples[name]), networkOf)
    const other = kind.normalise(kind.responseSchema.parse(respelt(samples[name], kept)), networkOf)
    expect(kind.unsignedPayload(other)).toBe(kind.unsignedPayload(one))
    const sample = kind.unsignedPayload(kind.responseSchema.parse(samples[name]))
    expect(kind.unsignedPayload(one).toLowerCase()).toBe(sample.toLowerCase())
  })

  test('of numbers is without leading zeros, and of an unknown chain is as it was', () => {
    const { deposits } = attestationKinds
    const sample = sampleResponses.deposits
    const [metadata] = sample.execution.metadata
    const padded = { ...metadata, oracleChainId: `00${metadata.oracleChainId}` }
    const answer = deposits.responseSchema.parse({
      ...sample,
      execution: { ...sample.execution, metadata: [padded] },
    })
    expect(deposits.normalise(answer, networkOf).execution?.metadata[0]?.oracleChainId).toBe(
      metadata.oracleChainId,
    )
    expect(deposits.normalise(answer, () => undefined).messages[0]?.result.depository).toBe(
      sample.messages[0].result.depository,
    )
    const zero = { ...metadata, oracleChainId: '0' }
    const none = deposits.responseSchema.parse({
      ...sample,
      execution: { ...sample.execution, metadata: [zero] },
    })
    expect(deposits.normalise(none, networkOf).execution?.metadata[0]?.oracleChainId).toBe('0')
    const initiated = attestationKinds['withdrawal-initiated']
    const { payloadParams } = sampleResponses['withdrawal-initiated']
    const wide = initiated.responseSchema.parse({
      payloadParams: { ...payloadParams, chainId: `0${payloadParams.chainId}` },
    })
    expect(initiated.normalise(wide, networkOf).payloadParams.chainId).toBe(payloadParams.chainId)
  })

  test('of domains makes equal ones equal', () => {
    const entry = {
      oracleChainId: '007',
      oracleContract: upper(domain.contract),
      oracleSigner: upper(signer),
      signature: 'X',
    }
    const [, execution] = attestationKinds.deposits.signatureArrays(
      attestationKinds.deposits.responseSchema.parse(sampleResponses.deposits),
      sampleContext,
    )
    expect(execution?.readClaims([entry])).toEqual([{ signer, signature: 'X', domain }])
    expect([domainKey(undefined), domainKey(domain)]).toEqual(['', `7:${domain.contract}`])
  })

  test('keeps why a withdrawal waits, and leaves evidence out', () => {
    const { withdrawals } = attestationKinds
    const { message } = sampleResponses.withdrawals
    const v1 = withdrawals.responseSchema.parse({
      message,
      pendingReason: 'ACTION_CAN_BE_SENT_AGAIN',
      evidence: [],
    })
    expect(withdrawals.normalise(v1, networkOf)).toMatchObject({ pendingReason: v1.pendingReason })
    expect(withdrawals.normalise(v1, networkOf)).not.toHaveProperty('evidence')
    const v2 = attestationKinds['withdrawals-v2']
    const pending = v2.responseSchema.parse({ status: 0, pendingReason: v1.pendingReason, evidence: [] })
    expect(v2.normalise(pending, networkOf)).toEqual({ status: 0, pendingReason: v1.pendingReason })
  })
})

test('a signature over typed data needs its domain', () => {
  const claims: readonly SignatureClaim[] = [{ signer, signature: 'x' }]
  for (const write of [toExecutionSignatures, toPayloadSignatures, toMappingSignatures])
    expect(() => write(claims)).toThrow(RangeError)
})

describe('a payload that nobody can sign', () => {
  const without: SignatureContext = { hub: { executionDomain: hub.executionDomain }, networkOf }

  test('has no domain where the hub file names no contract', () => {
    for (const name of ['withdrawal-initiated', 'nonce-mapping'] as const) {
      // CAST: each kind is used with its own responses alone.
      const kind = attestationKinds[name] as unknown as AnyKind
      const [array] = kind.signatureArrays(kind.responseSchema.parse(samples[name]), without)
      expect(array?.ownDomain).toBeUndefined()
      expect(array?.digestOf(undefined)).toBeUndefined()
    }
  })

  test('names an unknown chain; any other failure is told as it is', () => {
    const failing = (error: Error) =>
      messageArray('message.signatures', [], (): Hex => {
        throw error
      })
    const { deposits } = attestationKinds
    const answer = deposits.responseSchema.parse(sampleResponses.deposits)
    const [message] = deposits.signatureArrays(answer, { ...sampleContext, networkOf: () => undefined })
    expect(message?.digestOf(undefined)).toBeUndefined()
    expect(() => failing(new Error('broken')).requestOf(undefined)).toThrow('broken')
  })
})
