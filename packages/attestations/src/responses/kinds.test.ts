import { describe, expect, test } from 'vitest'
import { ethereumDepositId } from '../../../core/test/vectors/messages.ts'
import { networkOf } from '../../../core/test/vectors/orders.ts'
import { sampleContext, sampleResponses } from '../../test/vectors/responses.ts'
import { attestationKinds } from './kinds.ts'

describe('deposits', () => {
  const kind = attestationKinds.deposits
  const response = kind.responseSchema.parse(sampleResponses.deposits)

  test('every array knows what its entries sign, recomputed from the payload', () => {
    const arrays = kind.signatureArrays(response, sampleContext)
    expect(arrays.map(({ path }) => path)).toEqual(['messages.0.signatures', 'execution.signatures'])
    expect(arrays[0]?.requestOf(undefined)).toEqual({ purpose: 'message', messageId: ethereumDepositId })
  })

  test('signatures, evidence and unknown members are no part of the payload', () => {
    const signed = kind.withSignatures(response, (path) => [
      {
        signer: '0x1111111111111111111111111111111111111111',
        signature: `0x${path.length}`,
        domain: { chainId: '1', contract: '0x2222222222222222222222222222222222222222' },
      },
    ])
    const read = kind.responseSchema.parse({ ...signed, unknown: 1, evidence: [] })
    expect(kind.unsignedPayload(read)).toBe(kind.unsignedPayload(response))
    expect(kind.normalise(read, networkOf)).not.toHaveProperty('evidence')
  })
})
