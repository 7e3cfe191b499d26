import type { Hex } from '@causeway/core'
import { type ChainBed, type LocalAccount, multicall3Abi } from '@causeway/localnet'
import { concatHex, encodeFunctionData, erc20Abi } from 'viem'
import type { FamilyReader } from '../../../packages/families/src/shared/createFactsReader.ts'
import type { ReaderSettings } from '../../families/ethereumSupport/chainBed.ts'

/** A transaction of the network, with its hash on the node behind it. */
export type Sent = { readonly transactionId: string; readonly evmHash: Hex }

export type ReaderChange = {
  /** Default: the network's own. */
  readonly depository?: Hex
  readonly finality?: Exclude<ReaderSettings['finality'], undefined>
  readonly urls?: readonly string[]
  readonly limits?: { readonly logsMax: number }
  /** Default: the fill contract of this release. */
  readonly fillContracts?: readonly Hex[]
  readonly fillPayers?: readonly Hex[]
  /** Default: contracts of this release. */
  readonly recordsPayments?: (code: Hex) => boolean
}

/** A network whose depository is the EVM contract: the node that runs it, and how the network is written and read. */
export type DepositoryNetwork = {
  readonly evm: ChainBed
  readonly user: LocalAccount
  /** The network's spelling of 20 bytes, also of none for its coin. */
  spell(address: Hex): string
  /** Another way to write a transaction's id. */
  respell(transactionId: string): string
  /** No transaction has it. */
  readonly unknownId: string
  /** Finds the id behind a transfer that another call makes. @source F-124 */
  readonly readsNestedCalls: boolean
  /** Tells the calls of an order that a fill ran. */
  readonly tellsCalls: boolean
  /** @param from default: the user */
  send(to: Hex, data: Hex, value?: bigint, from?: LocalAccount): Promise<Sent>
  /** Sends coin without a call. */
  sendCoin(to: Hex, value: bigint): Promise<Sent>
  /** Blocks that are not final for two blocks; the reader is closed when the test ends. */
  readerOf(change?: ReaderChange): Pick<FamilyReader, 'readDeposits' | 'readPayment' | 'readWithdrawal'>
  stop(): Promise<void>
}

export const zeroAddress: Hex = `0x${'00'.repeat(20)}`
export const zeroId: Hex = `0x${'00'.repeat(32)}`

export const approveData = (spender: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })

export type Call = { readonly target: Hex; readonly callData: Hex; readonly value?: bigint }

/**
 * Several calls in one transaction; the tokens are those of the contract that makes the calls.
 * @param options.behind stands behind the calldata
 */
export function bundle(
  { evm, send }: DepositoryNetwork,
  calls: readonly Call[],
  { behind = '0x', from }: { readonly behind?: Hex; readonly from?: LocalAccount } = {},
): Promise<Sent> {
  const args = [calls.map((call) => ({ allowFailure: false, value: 0n, ...call }))] as const
  const data = encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args })
  const value = calls.reduce((sum, { value: own = 0n }) => sum + own, 0n)
  return send(evm.deployment.multicall3, concatHex([data, behind]), value, from)
}
