// Goal: a transaction whose content cannot be read is asked for seldom, however often it is named, and whatever else fails
// is never remembered. Attacks: one that is named at once by many, endpoints that come to read it, an outage meanwhile,
// more of them than memory keeps.
import { UpstreamUnavailableError } from '@causeway/core'
import {
  TransactionMissingError,
  TransactionRevertedError,
  TransactionTooLargeError,
  TransactionUnreadableError,
} from '@causeway/rpc'
import { expect, test } from 'vitest'
import type { FamilyReader } from './createFactsReader.ts'
import { putAsideReason, rememberUnread, unlessPutAside } from './putAside.ts'

const where = { chainId: 'solana', transactionId: 'a' }
const unreadable = new TransactionUnreadableError(where)
const payment = { orderId: '0x', extraData: '0x', payments: [] } as const
const signal = { signal: new AbortController().signal }

/** Fails with what the script says next; counts what it is asked. */
function scripted() {
  const script: Error[] = []
  const asked: string[] = []
  const answer = async (purpose: string, { transactionId }: { readonly transactionId: string }) => {
    asked.push(`${purpose} ${transactionId}`)
    throw script.shift() ?? unreadable
  }
  let forgotten = 0
  const none = async () => {
    throw new Error('nobody asks')
  }
  const reader: FamilyReader = {
    chainId: 'solana',
    vmType: 'solana-vm',
    readWithdrawal: none,
    readWithdrawRequest: none,
    readDeposits: (question) => answer('deposits', question),
    readPayment: (question) => answer('payment', question),
    forget() {
      forgotten += 1
    },
  }
  let nowMs = 0
  const remembering = rememberUnread(reader, () => nowMs)
  return {
    script,
    asked,
    forgotten: () => forgotten,
    remembering,
    read: (transactionId = 'a') =>
      remembering.readDeposits({ transactionId }, signal).catch((error: unknown) => error),
    wait(ms: number) {
      nowMs += ms
    },
  }
}

test.each<[string, unknown, unknown]>([
  ['of a version that is not read', unreadable, 'unreadable'],
  ['with too many events', new TransactionTooLargeError(where), 'too_large'],
  ['that is missing', new TransactionMissingError(where), undefined],
  ['that failed', new TransactionRevertedError(where), undefined],
  ['of a chain that does not answer', new UpstreamUnavailableError('silence', {}), undefined],
])('a transaction %s is put aside for its content alone', async (_what, error, reason) => {
  expect(putAsideReason(error)).toBe(reason)
  const outcome = await unlessPutAside(Promise.reject(error)).catch((thrown: unknown) => thrown)
  expect(outcome).toBe(reason === undefined ? error : undefined)
})

test('F-6: a refusal for its content is given again without a question, for longer each time', async () => {
  const { asked, read, wait } = scripted()
  await read()
  const pauses: number[] = []
  for (let tries = 1; tries <= 9; tries += 1) {
    let pause = 0
    while (asked.length === tries) {
      wait(5_000)
      pause += 5
      expect(await read()).toBe(unreadable)
    }
    pauses.push(pause)
  }
  expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600])
})

test('F-6: it is remembered for its purpose, and forgotten with the chain', async () => {
  const { asked, read, remembering, forgotten } = scripted()
  await read()
  await remembering.readPayment({ transactionId: 'a', ...payment }, signal).catch(() => undefined)
  await read('b')
  expect(asked).toEqual(['deposits a', 'payment a', 'deposits b'])
  await read()
  expect(asked).toHaveLength(3)
  remembering.forget()
  await read()
  expect([asked.length, forgotten()]).toEqual([4, 1])
})

test('F-6: any other failure is asked again at once', async () => {
  const { script, asked, read } = scripted()
  const silence = new UpstreamUnavailableError('silence', {})
  script.push(silence, new TransactionMissingError(where), silence)
  for (let count = 1; count <= 3; count += 1) {
    await read()
    expect(asked).toHaveLength(count)
  }
})

test('F-6: more of them than are kept push out the oldest, and memory stays bounded', async () => {
  const { asked, read } = scripted()
  for (let index = 0; index <= 1_000; index += 1) await read(`${index}`)
  await read('1000')
  expect(asked).toHaveLength(1_001)
  await read('0')
  expect(asked).toHaveLength(1_002)
})
