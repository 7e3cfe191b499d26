// Goal: endpoints that saw a Lighter transaction in different states count as its rule says, and what is looked for costs few
// requests. Method: one or two stand-ins that differ in scripted ways, requests counted at each.
import { DomainError, Secret } from '@causeway/core'
import { encodeLighterWithdrawal } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import {
  aSignal,
  depository,
  openChain,
  put,
  startNodes,
  transfer,
  user,
  withdrawalOf,
} from './lighterSupport/lighterBed.ts'

describe('a quorum', () => {
  test('counts a transaction that is proven for some and executed for others as one', async () => {
    const nodes = await startNodes(2)
    const transactionId = put(nodes, transfer())
    put(nodes.slice(1), transfer(), { hash: transactionId, status: 2 })
    const { evidence } = await openChain(nodes).reader.readDeposits({ transactionId }, aSignal())
    expect(evidence.agreeingEndpoints).toHaveLength(2)
  })

  test('that not all have executed yet asks to wait', async () => {
    const nodes = await startNodes(2)
    const transactionId = put(nodes, transfer())
    put(nodes.slice(1), transfer(), { hash: transactionId, status: 1 })
    await expect(openChain(nodes).reader.readDeposits({ transactionId }, aSignal())).rejects.toMatchObject({
      code: 'TRANSACTION_NOT_FINAL',
      retryable: true,
    })
  })

  test('does not sign a withdrawal that it sees in two states', async () => {
    const nodes = await startNodes(2)
    const payout = transfer({ FromAccountIndex: BigInt(depository), ToAccountIndex: BigInt(user) })
    const transactionId = put(nodes, payout)
    put(nodes.slice(1), payout, { hash: transactionId, status: 4 })
    const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout))
    await expect(
      openChain(nodes).reader.readWithdrawal({ withdrawal, transactionId }, aSignal()),
    ).rejects.toMatchObject({ code: 'UPSTREAM_DISAGREEMENT' })
  })
})

describe('one endpoint', () => {
  test('a withdrawal that is looked for: three pages and each transfer', async () => {
    const nodes = await startNodes()
    const payout = transfer({ FromAccountIndex: BigInt(depository), ToAccountIndex: BigInt(user) })
    put(nodes, payout)
    const explorerApiUrl = new Secret(nodes[0]?.explorerUrl ?? '')
    const withdrawal = encodeLighterWithdrawal(withdrawalOf(payout))
    await openChain(nodes, { additionalData: { explorerApiUrl } }).reader.readWithdrawal(
      { withdrawal },
      aSignal(),
    )
    expect(nodes[0]?.asked()).toHaveLength(4)
  })

  test.each([1, 4])('a transaction with status %i is asked for again', async (status) => {
    const [node] = await startNodes()
    if (node === undefined) throw new Error('no node')
    const transactionId = put([node], transfer(), { status })
    const { reader } = openChain([node], {}, 10)
    await expect(reader.readDeposits({ transactionId }, aSignal())).rejects.toBeInstanceOf(DomainError)
    put([node], transfer(), { hash: transactionId })
    expect(await reader.readDeposits({ transactionId }, aSignal())).toMatchObject({ kind: 'deposits' })
  })
})
