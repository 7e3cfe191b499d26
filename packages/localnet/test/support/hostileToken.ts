import { bytesToHex, type Hex } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import { hostileTokenAbi } from '../../src/contracts/abis.generated.ts'
import type { ChainDeployment } from '../../src/contracts/deployment.ts'
import type { LocalAccount } from '../../src/keys/localKeys.ts'
import type { ContractBench } from './contractBench.ts'

/** In the order of `HostileToken.Habit`. */
export const tokenHabits = [
  'None',
  'Callback',
  'Fee',
  'NoReturn',
  'ReturnsFalse',
  'Paused',
  'Blacklist',
  'ApproveFromZero',
  'FalseTransfer',
] as const
export type TokenHabit = (typeof tokenHabits)[number]

export type HostileToken = {
  readonly address: Hex
  /** Gives an account much of it, and the spender all of that. */
  fund(account: LocalAccount, spender: Hex): Promise<void>
  set(habit: TokenHabit, blocked?: Hex): Promise<void>
  /** Sets the call that the token makes while it moves. */
  arm(target: Hex, data: Hex): Promise<void>
}

const nobody: Hex = `0x${'00'.repeat(20)}`
const plenty = 2n ** 100n

/** A token with habits, at an address of its own. */
export async function placeHostileToken(
  bench: ContractBench<ChainDeployment>,
  operator: LocalAccount,
): Promise<HostileToken> {
  const address = bytesToHex(crypto.getRandomValues(new Uint8Array(20)))
  await bench.chain.node.setCode({ address, bytecode: bench.artifacts.HostileToken.runtimeBytecode })
  const abi = hostileTokenAbi
  const send = async (from: LocalAccount, data: Hex) => {
    await bench.send(from, address, data)
  }
  return {
    address,
    async fund(account, spender) {
      await send(operator, encodeFunctionData({ abi, functionName: 'mint', args: [account.address, plenty] }))
      await send(account, encodeFunctionData({ abi, functionName: 'approve', args: [spender, plenty] }))
    },
    set: (habit, blocked = nobody) =>
      send(
        operator,
        encodeFunctionData({ abi, functionName: 'set', args: [tokenHabits.indexOf(habit), blocked] }),
      ),
    arm: (target, data) =>
      send(operator, encodeFunctionData({ abi, functionName: 'arm', args: [target, data] })),
  }
}
