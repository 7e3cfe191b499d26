// Laws of aggregation over random sets of peers. CAUSEWAY_FAULTS=1 runs the long form.
import { attestationKinds, type DepositsResponse } from '@causeway/attestations'
import type { Hex } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  context,
  depositsBody,
  depositsOf,
  type SignerName,
  signed,
  signers,
} from '../../test/peerSupport/attestations.ts'
import { type Aggregate, createAggregation } from './aggregation.ts'

const kind = attestationKinds.deposits
const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const numRuns = isLongForm ? 10_000 : 150
const timeout = isLongForm ? 1_800_000 : 60_000
const allowed = new Set<Hex>([signers.A.address, signers.B.address, signers.C.address])
const names: readonly SignerName[] = ['A', 'B', 'C', 'X']
const payloads = [depositsOf(['1000']), depositsOf(['2000']), depositsOf(['1000', '2000'])]

/** Signing is slower than everything else here, so every honest answer is made once. */
const honest = new Map<string, DepositsResponse>()
for (const [index, payload] of payloads.entries()) {
  for (const name of names) honest.set(`${index}${name}`, await signed(kind, payload, [name]))
}

type Answer = {
  readonly payload: number
  readonly by: SignerName
  /** `held`: the execution is left out, as by an oracle at its signing cap, or by who strips it off. */
  readonly fault: 'none' | 'garbage' | 'partial' | 'held'
}

const answers = fc.record<Answer>({
  payload: fc.constantFrom(0, 1, 2),
  by: fc.constantFrom(...names),
  fault: fc.constantFrom('none', 'none', 'garbage', 'partial'),
})
const sets = fc.array(answers, { maxLength: 8 })
const heldAnswers = fc.record<Answer>({
  payload: fc.constantFrom(0, 1, 2),
  by: fc.constantFrom(...names),
  fault: fc.constantFrom('none', 'held'),
})
const badAnswers = fc.record<Answer>({
  payload: fc.constantFrom(0, 1, 2),
  by: fc.constantFrom(...names),
  fault: fc.constantFrom('garbage', 'partial', 'held'),
})

function responseOf({ payload, by, fault }: Answer): DepositsResponse {
  const response = honest.get(`${payload}${by}`)
  if (response === undefined) throw new Error('no such answer')
  if (fault === 'none') return response
  if (fault === 'held') return kind.withoutExecution(response)
  return kind.withSignatures(response, (path) => {
    const { signer } = { signer: signers[by].address }
    const domain = { chainId: '537713', contract: '0x795f9464ee05a34fe1e18925ca4e4753dcd60058' } as const
    if (fault === 'partial' && path === 'execution.signatures') return []
    return [{ signer, signature: `0x${'12'.repeat(65)}`, ...(path.startsWith('execution') && { domain }) }]
  })
}

function aggregate(
  set: readonly Answer[],
  options: { threshold: number; isListed?: boolean; local?: Answer },
): Aggregate<DepositsResponse> | undefined {
  const { threshold, isListed = true, local } = options
  const aggregation = createAggregation({
    kind,
    context,
    recover: recoverSigner,
    policy: { signers: isListed ? allowed : undefined, threshold },
    ownSigner: signers.A.address,
    request: depositsBody,
  })
  if (local !== undefined) aggregation.add(responseOf(local), undefined)
  for (const [index, answer] of set.entries()) {
    if (aggregation.add(responseOf(answer), { peer: `peer-${index}` })) break
  }
  return aggregation.conclude()
}

/** A threshold that is never met keeps the end from coming early. */
const unreachable = 99
const seen = (result: Aggregate<DepositsResponse> | undefined) => result && [result.response, result.matched]
const options = { numRuns, endOnFailure: true }

test('the result does not depend on the order of arrival, but for an early end', { timeout }, () => {
  const shuffled = sets.chain((set) =>
    fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length })),
  )
  fc.assert(
    fc.property(shuffled, fc.option(answers, { nil: undefined }), ([set, other], local) => {
      const withLocal = { threshold: unreachable, ...(local !== undefined && { local }) }
      expect(seen(aggregate(other, withLocal))).toEqual(seen(aggregate(set, withLocal)))
    }),
    options,
  )
})

test('where some hold the execution, order decides nothing, and a message is answered only where no execution is', {
  timeout,
}, () => {
  const some = fc.array(heldAnswers, { maxLength: 8 })
  const shuffled = some.chain((set) =>
    fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length })),
  )
  fc.assert(
    fc.property(shuffled, fc.integer({ min: 2, max: 4 }), ([set, other], threshold) => {
      const result = aggregate(set, { threshold: unreachable })
      expect(seen(aggregate(other, { threshold: unreachable }))).toEqual(seen(result))
      const answered = aggregate(set, { threshold })
      if (answered?.response.executionHeld === undefined) return
      // By payload: who signed all of it, and who signed its message at least.
      const whole = (payload: number) =>
        new Set(
          set
            .filter((one) => one.payload === payload && one.fault === 'none' && one.by !== 'X')
            .map(({ by }) => by),
        )
      for (const payload of [0, 1, 2]) expect(whole(payload).size).toBeLessThan(threshold)
      const isEnough = answered.matched >= threshold
      if (!isEnough) for (const payload of [0, 1, 2]) expect(whole(payload).size).toBe(0)
    }),
    options,
  )
})

test('P-131: never more signers than the allowlist has, ascending, each once', { timeout }, () => {
  fc.assert(
    fc.property(sets, fc.integer({ min: 1, max: 4 }), (set, threshold) => {
      const result = aggregate(set, { threshold })
      if (result === undefined) return
      for (const { claims } of kind.signatureArrays(result.response, context)) {
        const declared = claims.map(({ signer }) => signer)
        expect(declared).toEqual([...new Set(declared)].sort())
        expect(declared).toHaveLength(result.matched)
        expect(declared.every((signer) => allowed.has(signer))).toBe(true)
      }
      expect(result.matched).toBeLessThanOrEqual(allowed.size)
    }),
    options,
  )
})

test('another bad peer never lowers the count', { timeout }, () => {
  fc.assert(
    fc.property(sets, badAnswers, fc.nat(), fc.boolean(), (set, bad, place, isListed) => {
      const local: Answer = { payload: 0, by: 'A', fault: 'none' }
      const at = place % (set.length + 1)
      const more = [...set.slice(0, at), bad, ...set.slice(at)]
      const terms = { threshold: unreachable, isListed, local }
      expect(aggregate(more, terms)?.matched).toBe(aggregate(set, terms)?.matched)
    }),
    options,
  )
})

test('an early end holds exactly the threshold', { timeout }, () => {
  fc.assert(
    fc.property(sets, fc.integer({ min: 1, max: 3 }), (set, threshold) => {
      const most = aggregate(set, { threshold: unreachable })?.matched ?? 0
      const result = aggregate(set, { threshold })
      expect(result?.matched ?? 0).toBe(Math.min(most, threshold))
    }),
    options,
  )
})
