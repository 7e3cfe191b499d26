// Goal: an account with code takes its balance out by ERC-1271, and nobody else does: not who holds too few of its
// keys, not who owns the same address on another chain, not code that is not final. Method: three peered oracles,
// real nodes and contracts; the owner is an account of three keys, two of which sign.

import {
  type Hex,
  hubAlias,
  hubTokenId,
  type OwnerRequest,
  ownerRequestDigest,
  withdrawalAddress,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { decodeEvmWithdrawal } from '@causeway/families/rules'
import {
  caliburAddress,
  depositoryAbi,
  type LocalAccount,
  loadArtifacts,
  startTestNetwork,
  type TestNetwork,
  tokenAbi,
  waitUntil,
} from '@causeway/localnet'
import { concatHex, encodeFunctionData, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressNamed, yesToAll } from '../../../packages/localnet/test/fixtures/contractWallets.ts'
import { grantBalance } from './support/hubLedger.ts'
import {
  hubBalance,
  issuedPayload,
  submitEntry,
  submitExecution,
  submitWithdrawRequest,
} from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import {
  type Answer,
  accept,
  ask,
  passRecoveryDelay,
  payloadIdOf,
  promiseNoFill,
} from './support/ownerWithdrawals.ts'
import { executeWithdrawal, noOrder, signedOrder } from './support/protocolActors.ts'

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const
const amount = 5_000_000n
const recipient: Hex = `0x${'7e'.repeat(20)}`
const erc6492Suffix = '6492'.repeat(16)
/** Keys of the account, as it wants them: ascending. */
const keys = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()]
  .map((key) => privateKeyToAccount(key))
  .sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))

let network: TestNetwork
let trio: OracleTrio
let safe: Hex
beforeAll(async () => {
  network = await startTestNetwork()
  trio = await startOracleTrio(network)
  safe = await deploySafe()
  await depositTo(safe)
})
afterAll(async () => {
  await trio?.stop()
  await network?.stop()
})

const usdc = () => network.deployment.base.tokens.USDC
const held = (holder: Hex) => hubBalance(network, holder, hubTokenId(base, usdc()))
const user = (index: number): LocalAccount => {
  const account = network.keys.users[index]
  if (account === undefined) throw new Error(`no user ${index}`)
  return account
}

/** An account on base of three keys, two of which sign; final. */
async function deploySafe(): Promise<Hex> {
  const { OracleMultisig } = await loadArtifacts()
  const { walletClient, publicClient } = network.chains.base.chain.as(user(0))
  const sent = await walletClient.deployContract({
    abi: OracleMultisig.abi,
    bytecode: OracleMultisig.bytecode,
    args: [user(0).address],
  })
  const { contractAddress } = await publicClient.waitForTransactionReceipt({ hash: sent })
  if (contractAddress === null || contractAddress === undefined) throw new Error('not deployed')
  const args = [user(0).address, keys.map(({ address }) => address), 2n]
  const data = encodeFunctionData({ abi: OracleMultisig.abi, functionName: 'initialize', args })
  await network.chains.base.chain.send(user(0), [{ what: 'its keys', to: contractAddress, data }])
  await network.mine('base', 3)
  return `0x${contractAddress.slice(2).toLowerCase()}`
}

/** Somebody deposits for the account, and the deposit reaches the hub. @returns its attestation */
async function depositTo(depositor: Hex, id = noOrder): Promise<Answer> {
  const { depository } = network.deployment.base
  const { walletClient, publicClient } = network.chains.base.chain.as(user(0))
  const allow = encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [depository, amount] })
  await network.chains.base.chain.send(user(0), [{ what: 'an allowance', to: usdc(), data: allow }])
  const args = [depositor, usdc(), amount, id] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'depositErc20', args })
  const transactionId = await walletClient.sendTransaction({ to: depository, data })
  await publicClient.waitForTransactionReceipt({ hash: transactionId })
  await network.mine('base', 3)
  const minted = await ask(trio, 'depository-deposits/v1', { chainId: 'base', transactionId })
  await accept(network, minted)
  return minted
}

let nonce = 0
const requestOf = (change: Partial<OwnerRequest> = {}): OwnerRequest => {
  nonce += 1
  return {
    chainId: 'base',
    currency: usdc(),
    amount: amount.toString(),
    recipient,
    nonce: String(nonce),
    ownerChainId: 'base',
    owner: safe,
    ...change,
  }
}
const signedBy = async (signers: readonly Pick<(typeof keys)[number], 'sign'>[], request: OwnerRequest) => {
  const hash = toHex(ownerRequestDigest(request))
  return concatHex(await Promise.all(signers.map((signer) => signer.sign({ hash }))))
}
const initiate = (request: OwnerRequest, ownerSignature: Hex) =>
  ask(trio, 'withdrawal-initiation/v2', { ...request, ownerSignature })
const refused = { status: 400, body: { errorCode: 'INVALID_OWNER_SIGNATURE' } }

describe('P-80: the owner is an account of three keys', () => {
  test('P-80: who holds one of them, or signed anything else, takes nothing', async () => {
    const request = requestOf()
    const both = await signedBy(keys.slice(0, 2), request)
    const stranger = privateKeyToAccount(user(1).privateKey)
    const forged = [
      await signedBy(keys.slice(0, 1), request),
      await signedBy(
        [keys[1], keys[0]].flatMap((key) => key ?? []),
        request,
      ),
      await signedBy([stranger], request),
      await signedBy([stranger, stranger], request),
      ...(['0x', `0x${'00'.repeat(130)}`, both.slice(0, -2) as Hex] as const),
    ]
    for (const signature of forged)
      expect(await initiate(request, signature), signature).toMatchObject(refused)
    const changes = [
      ...[{ recipient: user(1).address }, { amount: '1' }, { nonce: '77' }, { chainId: 'optimism' }],
      ...[{ owner: user(1).address }, { ownerChainId: 'optimism' }],
    ]
    for (const change of changes) {
      expect(await initiate({ ...request, ...change }, both), JSON.stringify(change)).toMatchObject(refused)
    }
  })

  test('P-80: two of them take the balance out, once: initiated, issued, paid and burned', async () => {
    const request = requestOf()
    const flow = { ...request, ownerSignature: await signedBy(keys.slice(1), request) }
    const initiated = () => ask(trio, 'withdrawal-initiation/v2', { ...flow, includeEvidence: true })
    let first = await initiated()
    // The hub's newest block may not be read yet, by nobody or by the peers alone, whose answer has no evidence of this oracle.
    await waitUntil('it is initiated by the oracle that is asked', async () => {
      if (first.body.evidence === undefined) first = await initiated()
      return first.body.evidence !== undefined
    })
    expect(first.body.evidence).toMatchObject([{ chainId: 'base' }])
    await accept(network, first)
    const holder = withdrawalAddress(base, {
      depository: network.deployment.base.depository,
      currency: usdc(),
      recipient,
      ownerAlias: hubAlias(base, safe),
      nonce: BigInt(request.nonce),
    })
    expect([await held(hubAlias(base, safe)), await held(holder)]).toEqual([0n, amount])
    expect(await submitExecution(network, first.body.execution)).toBe('AlreadyExecuted')

    const { body } = await ask(trio, 'withdrawal-initiated/v2', flow)
    expect(await submitWithdrawRequest(network, body.payloadParams)).toBe('accepted')
    const payload = await issuedPayload(network, payloadIdOf(body.payloadParams))
    const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(payload))
    const burned = await ask(trio, 'depository-withdrawals/v2', { ...flow, transactionId })
    expect(burned.body).toMatchObject({ status: 1 })
    await accept(network, burned)
    expect(await held(holder)).toBe(0n)
  })
})

test('P-84: what it deposited for an order that nobody fills goes back to it by a promise, and out', async () => {
  const { USDC } = network.deployment.optimism.tokens
  const signed = await signedOrder(network, {
    salt: '1',
    refundTo: safe,
    input: { chain: 'base', currency: usdc(), amount },
    output: { chain: 'optimism', payments: [{ currency: USDC, to: recipient, amount: 1_000_000n }] },
  })
  const minted = await depositTo(safe, signed.orderId)
  const { data, result } = minted.body.messages[0]
  const { genericMapping } = (await promiseNoFill(network, trio, signed)).body
  expect(await submitEntry(network, genericMapping)).toBe('accepted')
  await passRecoveryDelay(network)
  const { order, orderSignature } = signed
  const body = { ...data, onchainId: result.onchainId, order, orderSignature }
  const before = await held(hubAlias(base, safe))
  await accept(network, await ask(trio, 'recover/v1', body))
  expect((await held(hubAlias(base, safe))) - before).toBe(amount)
  const request = requestOf()
  expect(await initiate(request, await signedBy(keys.slice(0, 1), request))).toMatchObject(refused)
  await accept(network, await initiate(request, await signedBy(keys.slice(1), request)))
  expect(await held(hubAlias(base, safe))).toBe(before)
})

describe('P-81: only the account on the chain of the owner counts', () => {
  test('P-81: the same address on another chain, which says yes to all, takes nothing', async () => {
    const [request, elsewhere] = [requestOf(), requestOf({ ownerChainId: 'optimism' })]
    await grantBalance(network, { holder: hubAlias(base, safe), token: hubTokenId(base, usdc()), amount })
    await network.chains.optimism.chain.node.setCode({ address: safe, bytecode: yesToAll })
    await network.mine('optimism', 3)
    expect(await initiate(request, '0x01')).toMatchObject(refused)
    expect(await initiate(elsewhere, '0x01')).toMatchObject({
      status: 400,
      body: { errorCode: 'INSUFFICIENT_HUB_BALANCE' },
    })
  })

  test('P-81: code counts once it is final, and a signature for code that is not there is refused by name', async () => {
    const owner = addressNamed(700)
    const request = requestOf({ owner })
    await grantBalance(network, { holder: hubAlias(base, owner), token: hubTokenId(base, usdc()), amount })
    await network.mine('hub', 3)
    expect(await initiate(request, '0x01')).toMatchObject(refused)
    const wrapped = await initiate(request, `0x${'00'.repeat(64)}${erc6492Suffix}`)
    expect(wrapped).toMatchObject(refused)
    expect(wrapped.body.message).toContain('ERC-6492')
    await network.chains.base.chain.node.setCode({ address: owner, bytecode: yesToAll })
    await network.mine('base', 1)
    expect(await initiate(request, '0x01')).toMatchObject(refused)
    await network.mine('base', 3)
    expect((await initiate(request, '0x01')).status).toBe(200)
  })
})

test('P-82: the key of a delegated account signs as before, and in the forms that its code takes', async () => {
  const account = user(2)
  const key = privateKeyToAccount(account.privateKey)
  const holder = hubAlias(base, account.address)
  await grantBalance(network, { holder, token: hubTokenId(base, usdc()), amount })
  const { node } = network.chains.base.chain
  const bytecode = concatHex(['0xef0100', caliburAddress])
  await node.setCode({ address: account.address, bytecode })
  await network.mine('base', 3)
  const request = requestOf({ owner: account.address })
  const signature = await signedBy([key], request)
  expect((await initiate(request, signature)).status).toBe(200)
  // EIP-2098: v in the highest bit of s.
  const s = BigInt(`0x${signature.slice(66, 130)}`) | (signature.endsWith('1c') ? 1n << 255n : 0n)
  const compact = `${signature.slice(0, 66)}${s.toString(16).padStart(64, '0')}` as Hex
  expect((await initiate(request, compact)).status).toBe(200)
  const other = await signedBy([privateKeyToAccount(user(1).privateKey)], request)
  expect(await initiate(request, other)).toMatchObject(refused)
})
