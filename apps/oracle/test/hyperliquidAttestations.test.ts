// Goal: what the reader says of the exchange becomes the executions that settle it: mints, burns and what goes
// back. Method: the rules over the reader, in front of the stand-in of the exchange; its hub is constructed.
import {
  deterministicId,
  encodeBurnAction,
  encodeHyperliquidWithdrawal,
  encodeMintAction,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  hyperliquidWithdrawalId,
  mainNetwork,
  orderAddress,
  withdrawalAddress,
} from '@causeway/core'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  aSignal,
  chainId,
  depository,
  type HyperliquidBed,
  native,
  openReader,
  orderId,
  otherDepository,
  recipient,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeSeconds,
  usdc,
  usdSend,
} from '../../../packages/chains/test/hyperliquidSupport/hyperliquidBed.ts'
import type { AttestationContext } from '../src/attestations/context.ts'
import { attestDeposits } from '../src/attestations/deposits.ts'
import { attestWithdrawal } from '../src/attestations/withdrawals.ts'
import { world } from './fixtures/world.ts'

let bed: HyperliquidBed
beforeAll(async () => {
  bed = await startHyperliquidBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.reset())

const named = { ...mainNetwork('hyperliquid-vm'), chainId }

function context(): AttestationContext {
  const { reader, quorum } = openReader(bed)
  onTestFinished(() => quorum.close())
  const configured = { depository, additionalDepositories: [otherDepository], hubChainId: '1337' }
  const scripted = world({})
  const chains = new Map([...scripted.chains, [chainId, { id: chainId, ...named, ...configured }]])
  return { ...scripted, chains, networkOf: (id) => chains.get(id), readerOf: () => reader }
}

test('a native deposit mints the published token to the order that the hub names', async () => {
  bed.map({})
  const transactionId = bed.list(usdSend())
  const { unsigned } = await attestDeposits({ chainId, transactionId }, context(), aSignal())
  const token = 103917556741680225303801409477047529438646539725594852362405311954551467894825n
  expect(hubTokenId(named, native)).toBe(token)
  const hubTo = orderAddress(named, {
    ...{ depositor: sender, timestampSeconds: timeSeconds, depositId: orderId },
  })
  expect(unsigned.messages).toMatchObject([
    { result: { onchainId: deterministicId(chainId, transactionId, '0'), depositId: orderId } },
  ])
  expect(unsigned.execution).toMatchObject({
    idempotencyKey: deterministicId(chainId, transactionId),
    actions: [encodeMintAction({ hubTo, hubTokenId: token, amount: 1_250_000_000n })],
  })
})

test('a deposit on another dex has no token on the hub and is refused', async () => {
  bed.map({})
  const transactionId = bed.list(sendAsset({ sourceDex: 'xyz', destinationDex: 'xyz' }))
  const attesting = attestDeposits({ chainId, transactionId }, context(), aSignal())
  await expect(attesting).rejects.toMatchObject({ code: 'INVALID_ADDRESS' })
})

const action = sendAsset({ destination: recipient })
const withdrawal = encodeHyperliquidWithdrawal(action)
const ownerAlias = hubAlias(named, sender)
const withdrawalAddressRequest = {
  ...{ chainId, depository, currency: usdc, recipient },
  ...{ withdrawer: sender, withdrawerChainId: chainId, withdrawalNonce: '4' },
}
const hubFrom = withdrawalAddress(named, { depository, currency: usdc, recipient, ownerAlias, nonce: 4n })
const moved = { hubTokenId: hubTokenId(named, usdc), amount: 1_250_000_000n }

async function attestBurn(transactionId?: string) {
  const request = { chainId, withdrawal, withdrawalAddressRequest, requestPeerSignatures: false }
  const attesting = transactionId === undefined ? request : { ...request, transactionId }
  return (await attestWithdrawal(attesting, context(), aSignal())).unsigned
}

test('an executed withdrawal burns under the transaction that carries it, named or not', async () => {
  const transactionId = bed.list(action, { user: depository })
  const key = deterministicId(hyperliquidWithdrawalId(action), transactionId)
  for (const name of [undefined, transactionId]) {
    expect(await attestBurn(name)).toMatchObject({
      message: { result: { status: 1, depository } },
      execution: { idempotencyKey: key, actions: [encodeBurnAction({ hubFrom, ...moved })] },
    })
  }
  const other = bed.list(usdSend({ destination: recipient }), { user: depository })
  await expect(attestBurn(other)).rejects.toMatchObject({ code: 'TRANSACTION_DOES_NOT_EXECUTE_WITHDRAWAL' })
})

test('a withdrawal whose named transaction failed goes back to its owner', async () => {
  const transactionId = bed.list(action, { user: depository, error: 'Insufficient balance' })
  expect(await attestBurn(transactionId)).toMatchObject({
    message: { result: { status: 2 } },
    execution: {
      idempotencyKey: deterministicId(hyperliquidWithdrawalId(action), '', '2'),
      actions: [encodeTransferAction({ hubFrom, hubTo: ownerAlias, ...moved })],
    },
  })
})

test('a pending withdrawal moves nothing', async () => {
  const unsigned = await attestBurn()
  expect(unsigned).toMatchObject({ message: { result: { status: 0 } } })
  expect(unsigned).not.toHaveProperty('execution')
})
