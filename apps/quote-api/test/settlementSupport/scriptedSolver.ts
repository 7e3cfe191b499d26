// The solver's side of the work routes, one step at a time: sign, report, broadcast.
import { encodeSignedDeposit, type Hex } from '@causeway/core'
import { type TestNetwork, testCalls, testFill } from '@causeway/localnet'
import { keccak256, toHex, zeroAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { openWorkItemSchema, type PermitPayload } from '../../src/requests/work/workItem.ts'
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
      const { chainId } = item.payload
      const { publicClient } = network.chains[chainOf(chainId)].chain.as(network.keys.fillWallet)
      const account = privateKeyToAccount(network.keys.fillWallet.privateKey)
      const nonce = await publicClient.getTransactionCount({ address: account.address, blockTag: 'pending' })
      const filler = network.keys.fillWallet.address
      const transaction =
        item.kind === 'permit' ? relay(item.payload) : payment(item, { scalePercent, filler, nonce })
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        ...transaction,
        ...gas,
      })
      const hash = keccak256(raw)
      const reported = await post(`${url}/solver/work/${item.id}/report`, { txHash: hash }, headers)
      if (reported.status !== 200) throw new Error(`${reported.status} ${reported.text}`)
      await publicClient.request({ method: 'eth_sendRawTransaction', params: [raw] })
      return hash
    },
  }
}

type Transaction = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

function relay(payload: PermitPayload): Transaction {
  const { permitKind, permitRouter, token, owner, amount, deadline, orderId, signature } = payload
  // CAST: permits of an EVM chain name EVM addresses.
  const parties = { token: token as Hex, owner: owner as Hex }
  const deposit = { ...parties, amount: BigInt(amount), deadlineSeconds: deadline, orderId }
  return { to: permitRouter as Hex, data: encodeSignedDeposit(permitKind, deposit, signature), value: 0n }
}

function payment(
  item: OpenWork,
  {
    scalePercent,
    filler,
    nonce,
  }: { readonly scalePercent: bigint; readonly filler: Hex; readonly nonce: number },
): Transaction {
  if (item.kind === 'permit' || item.kind === 'sweep') throw new Error(`cannot do a ${item.kind}`)
  const { payload } = item
  // A payment of its own, and the same one wherever the same story is told.
  const id = keccak256(toHex(nonce, { size: 32 }))
  const reference = 'claimId' in payload ? payload.claimId : payload.orderId
  const payments = 'payments' in payload ? payload.payments : [payload]
  const calls = 'calls' in payload ? payload.calls : []
  const scaled = payments.map(({ recipient, currency, amount }) => ({
    // CAST: orders of two EVM chains name EVM addresses.
    to: recipient as Hex,
    token: currency as Hex,
    amount: (BigInt(amount) * scalePercent) / 100n,
  }))
  const natives = scaled.filter(({ token }) => token === zeroAddress)
  // CAST: see above.
  const fillContract = payload.fillContract as Hex
  const { orderCalls, clone } = testCalls(
    // CAST: see above.
    calls.map(({ to, data, value }) => ({ to: to as Hex, data, value: BigInt(value) })),
    { fillContract, filler, recipient: scaled[0]?.to ?? filler, orderSalt: id },
  )
  const spent = orderCalls.calls.reduce((sum, call) => sum + call.value, 0n)
  const paid = [...natives, ...(spent === 0n ? [] : [{ to: clone, amount: spent }])]
  return {
    to: fillContract,
    data: testFill({
      id,
      orderId: reference,
      natives: paid,
      tokens: scaled.filter(({ token }) => token !== zeroAddress),
      orderCalls,
    }),
    value: paid.reduce((sum, { amount }) => sum + amount, 0n),
  }
}
