// Parts shared by Ethereum and Tron chains: contracts, calldata and requests of the allocator.

import type { Hex, WithdrawalQuestion, WithdrawalStatus } from '@causeway/core'
import { type EvmWithdrawal, encodeEvmWithdrawal } from '@causeway/families/rules'
import { executeCallData, randomWord, testFill } from '@causeway/localnet'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainBed } from '../../families/ethereumSupport/startChainBed.ts'

/** Calldata of the fill contract that pays one recipient in the chain's coin, recorded under an id of its own. */
export function fillData(orderId: Hex, to: Hex, amount: bigint): Hex {
  return testFill({ id: randomWord(), orderId, natives: [{ to, amount }] })
}

const expirations: Readonly<Record<WithdrawalStatus, bigint>> = {
  executed: 4_000_000_000n,
  pending: 4_000_000_000n,
  expired: 1n,
}
let nonce = 0n

/** @param execute runs calldata on the depository; its transaction id */
export async function evmWithdrawal(
  { chain, deployment, network }: Pick<ChainBed, 'chain' | 'deployment' | 'network'>,
  withdrawal: { readonly status: WithdrawalStatus; readonly to: Hex; readonly value: bigint },
  execute: (data: Hex) => Promise<string>,
): Promise<WithdrawalQuestion> {
  const { status, to, value } = withdrawal
  nonce += 1n
  const request: EvmWithdrawal = {
    calls: [{ to, data: '0x', value, allowFailure: false }],
    nonce,
    expiration: expirations[status],
  }
  const encoded = encodeEvmWithdrawal(request)
  if (status !== 'executed') return { withdrawal: encoded }
  const data = await executeCallData({
    chainId: chain.chainId,
    depository: deployment.depository,
    allocator: privateKeyToAccount(network.keys.allocator.privateKey),
    request,
  })
  return { withdrawal: encoded, transactionId: await execute(data) }
}

/** Position of a transaction: its first log's place in the block, and the block's time. */
export async function placeOf({ chain }: Pick<ChainBed, 'chain'>, hash: Hex) {
  const receipt = await chain.client.getTransactionReceipt({ hash })
  const { timestamp } = await chain.client.getBlock({ blockHash: receipt.blockHash })
  return { logIndex: String(receipt.logs[0]?.logIndex), timestampSeconds: timestamp }
}
