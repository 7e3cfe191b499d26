// Accounts without native coin, and batches that their owners sign: ERC-4337 by its own entry point and factory,
// EIP-7702 by the code at Calibur's address.
import type { Hex } from '@causeway/core'
import {
  accountAbstractionCode,
  type BatchedCall,
  entryPointAddress,
  type LocalAccount,
  signBatch,
  signDelegation,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { concatHex, encodeAbiParameters, encodeFunctionData, parseAbi, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { UserChain } from './localRequest.ts'

const entryPointAbi = parseAbi([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function handleOps(PackedUserOperation[] ops, address beneficiary)',
  'function getUserOpHash(PackedUserOperation op) view returns (bytes32)',
  'function getNonce(address sender, uint192 key) view returns (uint256)',
])
const accountAbi = parseAbi([
  'function executeBatch(address[] dest, uint256[] value, bytes[] func)',
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
])

export type Flow = 'ERC-4337' | 'EIP-7702'

/** An account, and the key that it obeys. */
export type Owner = { readonly privateKey: Hex; readonly address: Hex; readonly account: Hex }

/** Body of a request to submit calls. */
export type Execution = {
  readonly to: Hex
  readonly data: Hex
  readonly authorizationList?: readonly object[]
}

export type SmartAccounts = {
  /** One that nobody has used. */
  accountOf(flow: Flow): Promise<Owner>
  /** One user operation of an account that is made on the way. */
  userOperation(owner: Owner, calls: readonly BatchedCall[]): Promise<Execution>
  /** One batch of an account that delegates with the same transaction. */
  delegatedBatch(owner: Owner, calls: readonly BatchedCall[], nonce?: number): Promise<Execution>
  signedBy(flow: Flow, owner: Owner, calls: readonly BatchedCall[]): Promise<Execution>
}

/** @param payer deploys the factory of the accounts */
export async function startSmartAccounts(
  network: Pick<TestNetwork, 'chains' | 'mine'>,
  key: UserChain,
  payer: LocalAccount,
): Promise<SmartAccounts> {
  const { chain } = network.chains[key]
  const { client, chainId } = chain
  const argument = encodeAbiParameters([{ type: 'address' }], [entryPointAddress])
  const factory = await deploy(concatHex([accountAbstractionCode('SimpleAccountFactory'), argument]))

  async function deploy(code: Hex): Promise<Hex> {
    const { walletClient, publicClient } = chain.as(payer)
    const hash = await walletClient.sendTransaction({ data: code })
    let address: Hex | null | undefined
    await waitUntil('the contract is there', async () => {
      await network.mine(key)
      const receipt = await publicClient.getTransactionReceipt({ hash }).catch(() => undefined)
      address = receipt?.contractAddress
      return address !== undefined
    })
    if (address === undefined || address === null) throw new Error('nothing was deployed')
    // CAST: lower case hex is still hex.
    return address.toLowerCase() as Hex
  }

  async function userOperation(owner: Owner, calls: readonly BatchedCall[]): Promise<Execution> {
    const read = { address: entryPointAddress, abi: entryPointAbi } as const
    const creation = encodeFunctionData({
      abi: accountAbi,
      functionName: 'createAccount',
      args: [owner.address, 0n],
    })
    const hasCode = (await client.getCode({ address: owner.account })) !== undefined
    const operation = {
      sender: owner.account,
      nonce: await client.readContract({ ...read, functionName: 'getNonce', args: [owner.account, 0n] }),
      initCode: hasCode ? ('0x' as const) : concatHex([factory, creation]),
      callData: encodeFunctionData({
        abi: accountAbi,
        functionName: 'executeBatch',
        args: [calls.map(({ to }) => to), calls.map(({ value }) => value), calls.map(({ data }) => data)],
      }),
      accountGasLimits: concatHex([toHex(400_000n, { size: 16 }), toHex(600_000n, { size: 16 })]),
      preVerificationGas: 0n,
      gasFees: toHex(0n, { size: 32 }),
      paymasterAndData: '0x',
      signature: '0x',
    } as const
    const hash = await client.readContract({ ...read, functionName: 'getUserOpHash', args: [operation] })
    const signature = await privateKeyToAccount(owner.privateKey).signMessage({ message: { raw: hash } })
    const data = encodeFunctionData({
      abi: entryPointAbi,
      functionName: 'handleOps',
      args: [[{ ...operation, signature }], payer.address],
    })
    return { to: entryPointAddress, data }
  }

  async function delegatedBatch(owner: Owner, calls: readonly BatchedCall[], nonce = 0): Promise<Execution> {
    const authorizationList = [await signDelegation(owner.privateKey, chainId, nonce)]
    return { ...(await signBatch(owner.privateKey, calls, { chainId })), authorizationList }
  }

  return {
    async accountOf(flow) {
      const privateKey = generatePrivateKey()
      const { address } = privateKeyToAccount(privateKey)
      const read = { address: factory, abi: accountAbi, functionName: 'getAddress' } as const
      const account =
        flow === 'EIP-7702' ? address : await client.readContract({ ...read, args: [address, 0n] })
      // CAST: lower case hex is still hex.
      return { privateKey, address, account: account.toLowerCase() as Hex }
    },
    userOperation,
    delegatedBatch,
    signedBy: (flow, owner, calls) =>
      flow === 'EIP-7702' ? delegatedBatch(owner, calls) : userOperation(owner, calls),
  }
}
