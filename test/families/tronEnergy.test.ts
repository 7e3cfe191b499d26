// Goal: what quotes reckon with is never less than what a step or a payment takes, and not much more: energy by the
// contracts, bytes by the protocol. Who gains by breaking it: a user whose step burns its limit, whoever is filled below
// cost. Method: every form of transaction is made by tronweb, run on the stand-in, and compared. There energy is the gas of
// an EVM node, which no energy factor raises: the real chain takes more for tokens, which is measured while it runs.

import type { Hex } from '@causeway/core'
import { tronAddress, tronHexAddress } from '@causeway/core/encodings'
import {
  type CostedTransaction,
  encodeApprove,
  encodeDepositErc20,
  encodeDepositNative,
  encodeTransfer,
  fillPayment,
  type TokenEnergy,
  TronFees,
} from '@causeway/families/rules'
import { encodeTransaction } from '@causeway/localnet/standIns/tron'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTronBed, type TronBed, trx } from './tronSupport/tronBed.ts'

let bed: TronBed
let energy: TokenEnergy

const [id, orderId] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`] as const
const amount = 123_456_789n
/**
 * Signature and its length, and what the chain adds for a result.
 * @source java-tron, Constant.MAX_RESULT_SIZE_IN_TX
 */
const signedBytes = 67 + 64

beforeAll(async () => {
  bed = await startTronBed()
  const { depository, fillContract, tokens } = bed.evm.deployment
  for (const spender of [depository, fillContract])
    await bed.evm.send(bed.user, tokens.USDC, encodeApprove(spender, 10n ** 18n))
  // The depository and a holder have some already.
  await bed.evm.send(bed.user, tokens.USDC, encodeTransfer(depository, 1n))
  await bed.evm.send(bed.user, tokens.USDC, encodeTransfer(holder, 1n))
  const token = (data: Hex) => energyOf({ to: tokens.USDC, data })
  energy = {
    toHolder: await token(encodeTransfer(holder, 1n)),
    toNewHolder: await token(encodeTransfer(nobody, 1n)),
    approve: await token(encodeApprove(nobody, 1n)),
  }
}, 60_000)
afterAll(() => bed?.stop())

const holder: Hex = `0x${'b0'.repeat(20)}`
const nobody: Hex = `0x${'c0'.repeat(20)}`

/** Energy of a call that the bed's user would make now. */
async function energyOf(call: {
  readonly to: Hex
  readonly data: Hex
  readonly value?: bigint
}): Promise<bigint> {
  const { to, data, value = 0n } = call
  const from = bed.user.address
  const asked = { from, to, data, value: `0x${value.toString(16)}` }
  const gas = BigInt(String(await bed.evm.node('eth_estimateGas', [asked, 'latest'])))
  const bytes = Buffer.from(data.slice(2), 'hex')
  const zeros = bytes.filter((byte) => byte === 0).length
  return gas - 21_000n - BigInt(4 * zeros + 16 * (bytes.length - zeros))
}

function bytesOf(call: { readonly to: Hex; readonly data: Hex; readonly value?: bigint }): bigint {
  const { to, data, value } = call
  const { rawHex } = encodeTransaction(bed.user.address, {
    kind: 'trigger',
    to,
    data,
    ...(value !== undefined && { callValue: value }),
  })
  const raw = rawHex.length / 2
  return BigInt(1 + (raw < 128 ? 1 : 2) + raw + signedBytes)
}

type Form = {
  readonly transaction: CostedTransaction
  readonly call: () => { readonly to: Hex; readonly data: Hex; readonly value?: bigint }
}

const pay = (recipient: Hex, currency: string) => {
  const through = { fillContract: tronAddress(bed.evm.deployment.fillContract), id }
  const payments = [{ recipient: tronAddress(recipient), currency, amount }]
  const { contract, data, coin } = fillPayment(through, {
    orderId,
    deadlineSeconds: 2n ** 40n,
    payments,
  })
  return { to: tronHexAddress(contract), data, ...(coin > 0n && { value: coin }) }
}

const forms: Readonly<Record<string, Form>> = {
  'an allowance': {
    transaction: { kind: 'approve', isNative: false },
    call: () => ({ to: bed.evm.deployment.tokens.USDC, data: encodeApprove(nobody, amount) }),
  },
  'a deposit of coin': {
    transaction: { kind: 'deposit', isNative: true },
    call: () => ({
      to: bed.evm.deployment.depository,
      data: encodeDepositNative(bed.user.address, orderId),
      value: amount,
    }),
  },
  'a deposit of a token': {
    transaction: { kind: 'deposit', isNative: false },
    call: () => {
      const { depository, tokens } = bed.evm.deployment
      return { to: depository, data: encodeDepositErc20(bed.user.address, tokens.USDC, amount, orderId) }
    },
  },
  'a deposit by transfer': {
    transaction: { kind: 'deposit-transfer', isNative: false },
    call: () => {
      const { depository, tokens } = bed.evm.deployment
      return { to: tokens.USDC, data: `${encodeTransfer(depository, amount)}${orderId.slice(2)}` }
    },
  },
  'a payment of coin': {
    transaction: { kind: 'fill', isNative: true, lack: {} },
    call: () => pay(bed.other.address, trx),
  },
  'a payment of a token to a holder': {
    transaction: { kind: 'fill', isNative: false, lack: {} },
    call: () => pay(holder, bed.usdc),
  },
  'a payment of a token to nobody yet': {
    transaction: { kind: 'fill', isNative: false, lack: { holdsNone: true } },
    call: () => pay(nobody, bed.usdc),
  },
}

describe.each(Object.entries(forms))('%s', (_what, { transaction, call }) => {
  test('takes no more energy than is reckoned with, and at least half of it', async () => {
    const fees = new TronFees({ sunPerEnergy: 1n, sunPerByte: 1n, tokenEnergy: energy })
    const [reckoned, taken] = [fees.useOf(transaction).energy, await energyOf(call())]
    expect(reckoned).toBeGreaterThanOrEqual(taken)
    // Small estimates are rounded up to a minimum.
    expect(reckoned).toBeLessThanOrEqual(2n * taken + 10_000n)
  })

  test('has no more bytes than are reckoned with, and ten fewer at most', () => {
    const fees = new TronFees({ sunPerEnergy: 1n, sunPerByte: 1n, tokenEnergy: energy })
    const [reckoned, counted] = [fees.useOf(transaction).bytes, bytesOf(call())]
    expect(reckoned).toBeGreaterThanOrEqual(counted)
    expect(reckoned - counted).toBeLessThanOrEqual(10n)
  })
})
