import type { Hex } from '@causeway/core'
import { type ChainBed, type LocalAccount, multicall3Abi } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
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
  send(to: Hex, data: Hex, value?: bigint): Promise<Sent>
  /** Sends coin without a call. */
  sendCoin(to: Hex, value: bigint): Promise<Sent>
  /** Blocks that are not final for two blocks; the reader is closed when the test ends. */
  readerOf(change?: ReaderChange): Pick<FamilyReader, 'readDeposits' | 'readWithdrawal'>
  stop(): Promise<void>
}

export const zeroAddress: Hex = `0x${'00'.repeat(20)}`
export const zeroId: Hex = `0x${'00'.repeat(32)}`

export const approveData = (spender: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] })

export type Call = { readonly target: Hex; readonly callData: Hex; readonly value?: bigint }

/** Several calls in one transaction; the tokens are those of the contract that makes the calls. */
export function bundle({ evm, send }: DepositoryNetwork, calls: readonly Call[]): Promise<Sent> {
  const args = [calls.map((call) => ({ allowFailure: false, value: 0n, ...call }))] as const
  return send(
    evm.deployment.multicall3,
    encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args }),
    calls.reduce((sum, { value = 0n }) => sum + value, 0n),
  )
}
