import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, keccak256, maxUint256, parseAbi, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { executeCallData } from '../deploy/callRequest.ts'
import { nativeCurrency, type PlannedTransaction } from './fillTransaction.ts'
import type { FillWallet } from './fillWallet.ts'
import type { SignedRecord } from './signedRecord.ts'

/** A deposit as the depository logged it; amounts in smallest units of the currency. */
export type LoggedDeposit = {
  /** `chain:transaction:log` */
  readonly key: string
  readonly orderId: Hex
  readonly currency: Hex
  readonly amount: bigint
}

const depositEvents = parseAbi([
  'event RelayNativeDeposit(address from, uint256 amount, bytes32 id)',
  'event RelayErc20Deposit(address from, address token, uint256 amount, bytes32 id)',
])
const logRangeBlocks = 10_000n

/** All final deposits of a depository, in their order. */
export async function readDeposits(
  { client, chainId }: FillWallet,
  depository: Hex,
  finalBlock: bigint,
): Promise<readonly LoggedDeposit[]> {
  const deposits: LoggedDeposit[] = []
  for (let fromBlock = 0n; fromBlock <= finalBlock; fromBlock += logRangeBlocks) {
    const end = fromBlock + logRangeBlocks - 1n
    const toBlock = end < finalBlock ? end : finalBlock
    const logs = await client.getLogs({
      address: depository,
      events: depositEvents,
      fromBlock,
      toBlock,
      strict: true,
    })
    for (const { args, transactionHash, logIndex } of logs) {
      deposits.push({
        key: `${chainId}:${transactionHash}:${logIndex}`,
        orderId: args.id,
        currency: 'token' in args ? lowerCase(args.token) : nativeCurrency,
        amount: args.amount,
      })
    }
  }
  return deposits
}

/**
 * Deposits that the depository owes to the solver: of an order as many as it has paid for, by a fill or
 * by refunds, without those that a settlement covers already.
 */
export function owedDeposits(
  deposits: readonly LoggedDeposit[],
  records: readonly SignedRecord[],
): readonly LoggedDeposit[] {
  const covered = new Set(
    records
      .filter(({ outcome }) => outcome === 'open' || outcome === 'done')
      .flatMap(({ covers }) => covers ?? []),
  )
  const paidTimes = new Map<Hex, number>()
  for (const { orderId, outcome, kind } of records) {
    if (orderId === undefined || outcome !== 'done' || kind === 'chore' || kind === 'claim') continue
    paidTimes.set(orderId, (paidTimes.get(orderId) ?? 0) + 1)
  }
  return deposits.filter((deposit) => {
    const left = paidTimes.get(deposit.orderId) ?? 0
    paidTimes.set(deposit.orderId, left - 1)
    return left > 0 && !covered.has(deposit.key)
  })
}

/** Pays deposits of one currency out to the fill wallet; the same deposits only once, by the contract's rule. */
export async function settlementTransaction(parts: {
  readonly chainId: number
  readonly depository: Hex
  readonly allocator: PrivateKeyAccount
  readonly wallet: Hex
  readonly currency: Hex
  readonly deposits: readonly LoggedDeposit[]
}): Promise<PlannedTransaction> {
  const { chainId, depository, allocator, wallet, currency, deposits } = parts
  const amount = deposits.reduce((sum, deposit) => sum + deposit.amount, 0n)
  const call =
    currency === nativeCurrency
      ? { to: wallet, data: '0x' as const, value: amount, allowFailure: false }
      : {
          to: currency,
          data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet, amount] }),
          value: 0n,
          allowFailure: false,
        }
  const request = {
    calls: [call],
    nonce: BigInt(keccak256(toHex(deposits.map(({ key }) => key).join(' ')))),
    expiration: maxUint256,
  }
  const data = await executeCallData({ chainId, depository, allocator, request })
  return { to: depository, data, valueWei: 0n }
}

// CAST: lower case changes no address.
const lowerCase = (address: Hex) => address.toLowerCase() as Hex
