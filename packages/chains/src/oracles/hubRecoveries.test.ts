import type { Execution, Hex } from '@causeway/core'
import type { HubTransaction } from '@causeway/families'
import { expect, test } from 'vitest'
import { createHubRecoveries } from './hubRecoveries.ts'
import type { ExecutionAnswer } from './oracleClient.ts'

const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const execution = (byte: string): Execution => ({ idempotencyKey: word(byte), actions: [word('aa')] })
const signed = (byte: string, what: Execution): ExecutionAnswer => ({
  said: 'signed',
  signer: `0x${byte.repeat(20)}`,
  signature: `0x${byte.repeat(65)}`,
  execution: what,
})
const denied: ExecutionAnswer = { said: 'denied', code: 'DEPOSIT_NOT_FOUND' }
const silent: ExecutionAnswer = { said: 'nothing', code: 'no answer' }

/** A hub with three oracles of which two have to sign. @returns what was sent to it */
async function submit(...answers: readonly ExecutionAnswer[]): Promise<readonly HubTransaction[]> {
  const sent: HubTransaction[] = []
  const recoveries = createHubRecoveries({
    vouching: {
      oracles: answers.map((answer) => ({
        attestDeposits: async () => answer,
        attestPromise: async () => silent,
      })),
      threshold: 2,
      multisig: `0x${'ee'.repeat(20)}`,
      domain: { chainId: 1, verifyingContract: `0x${'dd'.repeat(20)}` },
    },
    writer: { write: async () => {} },
    transactions: { sendUntil: async (transaction) => void sent.push(transaction) },
    reader: { isExecuted: async () => false },
    executionDomain: { chainId: 1, verifyingContract: `0x${'cc'.repeat(20)}`, version: '2' },
  })
  await recoveries.submitDeposits({ chainId: 'base', transactionId: word('bb') })
  return sent
}

test('P-73: what enough oracles signed alike is sent once, with their signatures ascending', async () => {
  const [one, other] = [execution('01'), execution('02')]
  const [transaction, ...more] = await submit(signed('33', one), signed('22', other), signed('11', one))
  expect(more).toEqual([])
  expect(transaction?.to).toBe(`0x${'cc'.repeat(20)}`)
  expect(transaction?.data).toContain('11'.repeat(65) + '33'.repeat(65))
  expect(transaction?.data).not.toContain('22'.repeat(65))
})

test('P-73: nothing is sent where oracles sign different things, too few sign, or they refuse', async () => {
  const unavailable = { code: 'SERVICE_UNAVAILABLE' }
  const unlike = submit(signed('11', execution('01')), signed('22', execution('02')), silent)
  await expect(unlike).rejects.toMatchObject(unavailable)
  await expect(submit(signed('11', execution('01')), denied, silent)).rejects.toMatchObject(unavailable)
  await expect(submit(silent, silent, silent)).rejects.toMatchObject(unavailable)
  await expect(submit(denied, silent, silent)).rejects.toThrow('Oracles refuse to sign the deposit.')
})
