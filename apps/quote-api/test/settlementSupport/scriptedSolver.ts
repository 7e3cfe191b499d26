// The solver's side of the work routes, one step at a time: sign, report, broadcast.

import { type Hex, type Order, refundedDeposit, refundId } from '@causeway/core'
import { createEthereumFactsReader, encodeForwarded } from '@causeway/families'
import { encodePermit, encodeSignedDeposit } from '@causeway/families/rules'
import { type TestNetwork, testFill } from '@causeway/localnet'
import { createQuorumClient } from '@causeway/rpc'
import { keccak256, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { type FillPayload, openWorkItemSchema, type RefundPayload } from '../../src/requests/work/workItem.ts'
import { post, readOk, send } from '../serviceSupport/callService.ts'
import type { UserChain } from '../serviceSupport/localRequest.ts'

export type OpenWork = z.output<typeof openWorkItemSchema>
export type ScriptedSolver = ReturnType<typeof createScriptedSolver>

const listSchema = z.object({ items: z.array(openWorkItemSchema) })
const gas = { gas: 3_000_000n, maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 0n } as const

export function createScriptedSolver(options: { network: TestNetwork; url: string; apiKey: string }) {
  const { network, url, apiKey } = options
  const headers = { 'x-api-key': apiKey }
  const chainOf = (chainId: number): UserChain => (chainId === 8_453 ? 'base' : 'optimism')

  return {
    async work(): Promise<readonly OpenWork[]> {
      return readOk(await send(`${url}/solver/work`, { headers }), listSchema).items
    },
    report: (id: string, txHash: string, replaces?: string, validUntil?: number) =>
      post(
        `${url}/solver/work/${id}/report`,
        {
          txHash,
          ...(replaces !== undefined && { replaces }),
          ...(validUntil !== undefined && { validUntil }),
        },
        headers,
      ),
    fail: (id: string, reason: string) => post(`${url}/solver/work/${id}/failed`, { reason }, headers),
    /** Pays what an item asks for, `scalePercent` of it, or relays it. @returns the transaction */
    async carryOut(item: OpenWork, scalePercent = 100n): Promise<Hex> {
      const { hash, send } = await sign(item, scalePercent)
      const reported = await post(`${url}/solver/work/${item.id}/report`, { txHash: hash }, headers)
      if (reported.status !== 200) throw new Error(`${reported.status} ${reported.text}`)
      await send()
      return hash
    },
    /** Pays without reporting it. */
    async payInSecret(item: OpenWork): Promise<Hex> {
      const { hash, send } = await sign(item, 100n)
      await send()
      return hash
    },
  }

  async function sign(item: OpenWork, scalePercent: bigint) {
    const { chainId } = item.payload
    const { publicClient } = network.chains[chainOf(chainId)].chain.as(network.keys.fillWallet)
    const account = privateKeyToAccount(network.keys.fillWallet.privateKey)
    const nonce = await publicClient.getTransactionCount({ address: account.address, blockTag: 'pending' })
    const transaction =
      item.kind === 'permit'
        ? relay(item.payload)
        : payment(item, { scalePercent, id: await recordIdOf(network, item) })
    const authorizationList = authorizationsOf(item)
    const raw = await account.signTransaction({
      ...(authorizationList.length === 0
        ? { type: 'eip1559' as const }
        : { type: 'eip7702' as const, authorizationList }),
      chainId,
      nonce,
      ...transaction,
      ...gas,
    })
    const send = () => publicClient.request({ method: 'eth_sendRawTransaction', params: [raw] })
    return { hash: keccak256(raw), send }
  }
}

type Transaction = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

function authorizationsOf({ kind, payload }: OpenWork) {
  if (kind !== 'permit' || payload.permitKind !== 'calls') return []
  // CAST: accounts of an EVM chain have EVM code.
  return payload.authorizationList.map((tuple) => ({ ...tuple, address: tuple.address as Hex }))
}

type Relayed = Extract<OpenWork, { kind: 'permit' }>['payload']

function relay(payload: Relayed): Transaction {
  if (payload.permitKind === 'calls') {
    // CAST: calls of an EVM chain name EVM addresses.
    const [to, target] = [payload.multicall3 as Hex, payload.to as Hex]
    return { to, data: encodeForwarded({ target, callData: payload.data }), value: 0n }
  }
  const { permitKind, permitRouter, token, owner, amount, deadline, orderId, signature } = payload
  // CAST: permits of an EVM chain name EVM addresses.
  const [router, parties] = [permitRouter as Hex, { token: token as Hex, owner: owner as Hex }]
  const deposit = { ...parties, amount: BigInt(amount), deadlineSeconds: deadline, orderId }
  if (permitKind !== 'permit2')
    return { to: router, data: encodeSignedDeposit(permitKind, deposit, signature), value: 0n }
  const { chainId, relayer, calls = [] } = payload
  const data = encodePermit(
    {
      ...deposit,
      kind: permitKind,
      chainId,
      router,
      // CAST: see above.
      relayer: relayer as Hex,
      // CAST: see above.
      calls: calls.map((call) => ({ ...call, to: call.to as Hex, value: BigInt(call.value) })),
    },
    signature,
  ).data
  return { to: router, data, value: 0n }
}

/** The id that the fill contract is to record. */
async function recordIdOf(network: TestNetwork, { kind, payload }: OpenWork): Promise<Hex> {
  if (kind === 'claim') return payload.claimId
  // CAST: an order id is 32 bytes of hex.
  const orderId = ('orderId' in payload ? payload.orderId : undefined) as Hex
  return kind === 'refund' ? refundIdOf(network, orderId, payload) : orderId
}

/** The id that the fill contract has for the refund of a named deposit. */
export async function refundIdOf(
  network: TestNetwork,
  orderId: Hex,
  payload: Pick<RefundPayload, 'deposits'>,
): Promise<Hex> {
  const [named] = payload.deposits ?? []
  if (named === undefined) return orderId
  const { chainId } = named
  const key = chainId === 8_453 ? 'base' : 'optimism'
  const quorum = createQuorumClient({
    chainId: key,
    endpoints: [{ url: network.chains[key].url, alias: 'e1' }],
  })
  const { depository } = network.deployment[key]
  const chain = { id: key, depository, finality: { mode: 'depth', blocks: 0 } } as const
  const reader = createEthereumFactsReader({ chain, quorum, limits: { finalEntriesMax: 0 } })
  try {
    const { transactionId } = named
    const facts = await reader.readDeposits({ transactionId }, { signal: AbortSignal.timeout(10_000) })
    const deposit = facts.deposits.find(({ onchainIndex }) => onchainIndex === named.onchainIndex)
    if (deposit === undefined) throw new Error(`there is no deposit ${named.onchainIndex}`)
    return refundId(orderId, refundedDeposit(deposit, { ...facts, chainId }))
  } finally {
    quorum.close()
  }
}

function payment(
  item: OpenWork,
  { scalePercent, id }: { readonly scalePercent: bigint; readonly id: Hex },
): Transaction {
  if (item.kind === 'permit' || item.kind === 'sweep' || item.kind === 'recovery')
    throw new Error(`cannot do a ${item.kind}`)
  const { payload } = item
  const reference = 'claimId' in payload ? payload.claimId : payload.orderId
  const payments = 'payments' in payload ? payload.payments : [payload]
  const scaled = payments.map(({ recipient, currency, amount }) => ({
    // CAST: orders of two EVM chains name EVM addresses.
    to: recipient as Hex,
    token: currency as Hex,
    amount: (BigInt(amount) * scalePercent) / 100n,
  }))
  const natives = scaled.filter(({ token }) => token === zeroAddress)
  const tokens = scaled.filter(({ token }) => token !== zeroAddress)
  const order = 'order' in payload ? payload.order : undefined
  return {
    // CAST: see above.
    to: payload.fillContract as Hex,
    data: testFill({
      id,
      orderId: reference,
      natives,
      tokens,
      ...('calls' in payload &&
        order !== undefined && { orderCalls: orderCallsOf(payload, { order, tokens }) }),
    }),
    value: natives.reduce((sum, { amount }) => sum + amount, 0n),
  }
}

/** Calls of the order; empty for an order without any. */
function orderCallsOf(
  { calls, recipient }: FillPayload,
  { order, tokens }: { readonly order: Order; readonly tokens: readonly { readonly token: Hex }[] },
) {
  // CAST: orders of two EVM chains name EVM addresses, and a salt of 32 bytes.
  const [orderSalt, rest] = [order.salt as Hex, (recipient ?? zeroAddress) as Hex]
  return {
    orderSalt,
    recipient: rest,
    sweptTokens: tokens.map(({ token }) => token),
    // CAST: see above.
    calls: calls.map(({ to, data, value }) => ({ to: to as Hex, data, value: BigInt(value) })),
  }
}
