import type { Evidence, Hex, PaymentQuestion } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { expect, test } from 'vitest'
import { families } from '../registry/families.ts'
import { createFactsReader, type FactsFamily } from './createFactsReader.ts'

const { signal } = new AbortController()
const account = `0x${'ab'.repeat(20)}`
const transactionId = `0x${'cd'.repeat(32)}`
const withdrawalId: Hex = `0x${'ef'.repeat(32)}`
const evidence: Evidence = { chainId: 'base', finalityRule: 'always', agreeingEndpoints: ['one'] }
const upperCase = (hex: string) => `0x${hex.slice(2).toUpperCase()}`

function familyThatCounts() {
  const readings: (string | undefined)[] = []
  const payments: PaymentQuestion[] = []
  const family: FactsFamily<'seen'> = {
    chainId: 'base',
    network: mainNetwork('ethereum-vm'),
    finalityRule: 'always',
    forget: () => {},
    withdrawRequest: families['ethereum-vm'].withdrawRequest,
    readDeposits: async () => ({ blockTimestampSeconds: 1n, deposits: [], evidence }),
    async readPayment(question) {
      payments.push(question)
      return { blockTimestampSeconds: 1n, referencesOrder: true, transfers: [], evidence }
    },
    prepareWithdrawal: (withdrawal) => ({
      withdrawalId,
      async read(named) {
        readings.push(named)
        await Promise.resolve()
        return { facts: 'seen', agreeingEndpoints: ['one'] }
      },
      describe: () => ({
        depository: account,
        status: 'pending',
        currency: account,
        recipient: account,
        amount: BigInt(withdrawal),
        shownIn: { blockNumber: 7n },
      }),
    }),
  }
  return { reader: createFactsReader(family), readings, payments }
}

test('who joins a reading of a withdrawal is told the amount of his own bytes', async () => {
  const { reader, readings } = familyThatCounts()
  const [one, other] = await Promise.all([
    reader.readWithdrawal({ withdrawal: '0x01', transactionId }, { signal }),
    reader.readWithdrawal({ withdrawal: '0x02', transactionId: upperCase(transactionId) }, { signal }),
  ])
  expect([one.amount, other.amount]).toEqual([1n, 2n])
  expect(readings).toEqual([transactionId])
  expect(one.evidence).toEqual({ ...evidence, blockNumber: 7n })
})

test('withdrawals that name another transaction, or none, are read by themselves', async () => {
  const { reader, readings } = familyThatCounts()
  const other = `0x${'01'.repeat(32)}`
  await Promise.all([
    reader.readWithdrawal({ withdrawal: '0x01', transactionId }, { signal }),
    reader.readWithdrawal({ withdrawal: '0x01', transactionId: other }, { signal }),
    reader.readWithdrawal({ withdrawal: '0x01' }, { signal }),
  ])
  expect(readings).toEqual([transactionId, other, undefined])
})

test('a family is asked in canonical spelling, whatever the caller wrote', async () => {
  const { reader, payments } = familyThatCounts()
  const question: PaymentQuestion = {
    orderId: withdrawalId,
    extraData: '0x',
    transactionId: upperCase(transactionId),
    payments: [{ recipient: upperCase(account), currency: upperCase(account) }],
  }
  const facts = await reader.readPayment(question, { signal })
  expect(facts.transactionId).toBe(transactionId)
  expect(payments).toEqual([
    { ...question, transactionId, payments: [{ recipient: account, currency: account }] },
  ])
})
