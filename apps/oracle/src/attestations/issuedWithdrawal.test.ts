// The question for the payload that the allocator issued, rule P-117: for exactly one withdraw request.
import { withdrawRequestPayloadId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { encodeEvmWithdrawal, payloadHashes, withdrawRequestOf } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { repeated } from '../../../../packages/core/test/vectors/orders.ts'
import { options, spender } from '../../test/fixtures/withdrawing.ts'
import { depository, evidence, nativeCurrency } from '../../test/fixtures/world.ts'
import type { AttestationContext, AttestedChain } from './context.ts'
import { readIssuedWithdrawal } from './issuedWithdrawal.ts'

type Allocator = NonNullable<AttestationContext['allocator']>
type Question = Parameters<Allocator['readIssued']>[0]

const chain: AttestedChain = { id: 'ethereum', ...mainNetwork('ethereum-vm'), hubChainId: '1' }
const recipient = repeated('22', 20)
const payload = encodeEvmWithdrawal({
  calls: [{ to: recipient, data: '0x', value: 1000n, allowFailure: false }],
  nonce: 5n,
  expiration: 1_800_000_000n,
})
const request = withdrawRequestOf(chain, payload, {
  depository,
  currency: nativeCurrency,
  amount: 1000n,
  recipient,
  spender,
  nonce: 42n,
})

/** An allocator that notes what it is asked, and has issued the payload. */
async function read(asked = request) {
  const questions: Question[] = []
  const allocator: Allocator = {
    keys: 'public',
    async readIssued(question) {
      questions.push(question)
      return { payload, evidence: evidence('relay-allocator') }
    },
  }
  const issued = await readIssuedWithdrawal(asked, { chain, allocator }, options)
  const [question] = questions
  if (question === undefined) throw new Error('the allocator was not asked')
  return { issued, question }
}

test('the allocator is asked by the id of the request, and by its spender and nonce', async () => {
  const { issued, question } = await read()
  const payloadId = withdrawRequestPayloadId(request)
  expect(question).toMatchObject({ payloadId, spender, nonce: `0x${'2a'.padStart(64, '0')}` })
  expect(issued).toEqual({ payloadId, payload, evidence: evidence('relay-allocator') })
})

test('a payload was issued if its hashes were signed, those of the depository that pays', async () => {
  const { question } = await read()
  const hashes = payloadHashes('ethereum-vm', payload, { hubChainId: 1n, depository })
  expect(hashes).toHaveLength(1)
  expect(question.hashesOf(payload)).toEqual(hashes)
  const elsewhere = await read({ ...request, depository: repeated('5d', 20) })
  expect(elsewhere.question.hashesOf(payload)).not.toEqual(hashes)
})

test('a payload that nobody can read has no hashes, and so was not issued', async () => {
  expect((await read()).question.hashesOf('0x12')).toEqual([])
})

test('another failure is not taken for a payload that was not issued', async () => {
  const { question } = await read({ ...request, depository: 'nobody' })
  expect(() => question.hashesOf(payload)).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
})
