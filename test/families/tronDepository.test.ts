// Goal: what only Tron has changes nothing about deposits and withdrawals: memos, positions that nodes count anew in each
// transaction, and addresses in base58. Method: the real contracts behind the stand-in of a node's HTTP API.
import type { Hex } from '@causeway/core'
import { encodeDepositErc20, encodeTransfer } from '@causeway/families/rules'
import type { Submitted } from '@causeway/localnet/standIns/tron'
import { concatHex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approveData, zeroId } from '../readerSupport/depository/depositoryNetwork.ts'
import { accountOf, aSignal, readerOf, startTronBed, type TronBed, trx } from './tronSupport/tronBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const someone = accountOf('11')

let bed: TronBed
let depository: Hex
let usdc: Hex
beforeAll(async () => {
  bed = await startTronBed()
  depository = bed.evm.deployment.depository
  usdc = bed.evm.deployment.tokens.USDC
})
afterAll(() => bed?.stop())

const trigger = (to: Hex, data: Hex) => ({ kind: 'trigger', to, data }) as const

async function depositsOf({ transactionId }: Submitted, ofDepository = bed.depository) {
  await bed.evm.mine(2)
  const { reader } = readerOf(bed, { depository: ofDepository })
  return (await reader.readDeposits({ transactionId }, aSignal())).deposits
}

test('TRX sent without the call is no deposit, whatever its memo says', async () => {
  const sent = await bed.ledger.submit(bed.user, { kind: 'transfer', to: someone.bytes, amount: 5n }, id)
  expect(await depositsOf(sent, someone.base58)).toEqual([])
})

test('F-124: a memo gives a deposit no id', async () => {
  const sent = await bed.ledger.submit(bed.user, trigger(usdc, encodeTransfer(depository, 5n)), id)
  expect(await depositsOf(sent)).toMatchObject([{ depositId: zeroId }])
})

test('positions of deposits count in the block, behind the logs of transactions before', async () => {
  await bed.ledger.submit(bed.user, trigger(usdc, approveData(depository, 2n)))
  await bed.ledger.submit(bed.user, trigger(usdc, encodeTransfer(bed.other.address, 10n)))
  const both = await bed.ledger.submitTogether([
    {
      from: bed.user,
      contract: trigger(depository, encodeDepositErc20(someone.bytes, usdc, 2n, id)),
    },
    { from: bed.other, contract: trigger(usdc, concatHex([encodeTransfer(depository, 3n), id])) },
  ])
  const indices = await Promise.all(both.map(logIndices))
  const found = await Promise.all(both.map((sent) => depositsOf(sent)))
  expect(found.flat().map(({ onchainIndex }) => onchainIndex)).toEqual([indices[0]?.[0], indices[1]?.[0]])
  expect(new Set(indices.flat()).size).toBe(indices.flat().length)
  expect(indices.flat()).toContain('0')
})

/** Indices of the node's own receipt, which count in the block. */
async function logIndices({ evmHash }: Submitted): Promise<readonly string[]> {
  const receipt = Object(await bed.evm.node('eth_getTransactionReceipt', [evmHash]))
  return receipt.logs.map(({ logIndex }: { logIndex: Hex }) => BigInt(logIndex).toString())
}

test('a request for payload parameters is spelled in 20 bytes', async () => {
  const recipient = accountOf('31')
  const { reader } = readerOf(bed)
  const question = {
    depository: bed.depository,
    currency: trx,
    amount: 5n,
    recipient: recipient.base58,
    nonce: '1',
  }
  expect(await reader.readWithdrawRequest(question, aSignal())).toEqual({
    kind: 'withdraw-request',
    depository: depository.toLowerCase(),
    currency: `0x${'00'.repeat(20)}`,
    recipient: recipient.bytes,
    data: '0x',
  })
  await expect(
    reader.readWithdrawRequest({ ...question, recipient: `${recipient.base58}1` }, aSignal()),
  ).rejects.toMatchObject({ kind: 'invalid_request' })
})
