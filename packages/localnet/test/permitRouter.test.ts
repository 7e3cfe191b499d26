// Goal: a signed deposit becomes exactly the deposit of its order, whoever submits it, and only once.
// Method: the router and the tokens as deployed, on a real node; wallets sign what the core module builds.

import { depositoryAbi, oracleMultisigAbi, permitRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import {
  encodeSignedDeposit,
  permitDigest,
  permitSpender,
  permitTypedData,
  type TokenPermitKind,
  type TokenPermitTerms,
} from '@causeway/families/rules'
import {
  concatHex,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  hashTypedData,
  parseEventLogs,
  toHex,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { deployThroughProxy } from '../src/uniswap/create2.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const amount = 25_000_000n
let bench: ContractBench<ChainDeployment>
let owner: LocalAccount
let relayer: LocalAccount
let usdc: Hex

beforeAll(async () => {
  bench = await startUserChainBench()
  owner = bench.keys.users[0] ?? freshAccount()
  relayer = bench.keys.users[1] ?? freshAccount()
  usdc = bench.deployment.tokens.USDC
})
afterAll(() => bench?.stop())

const kinds: readonly TokenPermitKind[] = ['eip3009', 'eip2612']

async function termsOf(
  kind: TokenPermitKind,
  more: Partial<TokenPermitTerms> = {},
): Promise<TokenPermitTerms> {
  const shared = {
    token: usdc,
    owner: owner.address,
    amount,
    deadlineSeconds: Number((await bench.chain.client.getBlock()).timestamp) + 600,
    orderId: freshId(),
    domain: { name: 'USD Coin', version: '2', chainId: bench.chain.chainId },
    router: bench.deployment.permitRouter,
    ...more,
  }
  return kind === 'eip3009' ? { ...shared, kind } : { ...shared, kind, nonce: await nonceOf(shared.owner) }
}

const freshId = (): Hex => toHex(crypto.getRandomValues(new Uint8Array(32)))
const nonceOf = (holder: Hex) =>
  bench.chain.client.readContract({ address: usdc, abi: tokenAbi, functionName: 'nonces', args: [holder] })
const balanceOf = (holder: Hex) =>
  bench.chain.client.readContract({ address: usdc, abi: erc20Abi, functionName: 'balanceOf', args: [holder] })

function signTerms(terms: TokenPermitTerms, signer = owner): Promise<Hex> {
  const { value: message, ...typed } = permitTypedData(terms)
  return privateKeyToAccount(signer.privateKey).signTypedData({ ...typed, message })
}

async function callOf(terms: TokenPermitTerms, signature?: Hex): Promise<Hex> {
  return encodeSignedDeposit(terms.kind, terms, signature ?? (await signTerms(terms)))
}

const submit = (data: Hex) => bench.send(relayer, bench.deployment.permitRouter.contract, data)
const refusal = (data: Hex) => bench.revert(relayer, bench.deployment.permitRouter.contract, data)

describe.each(kinds)('%s', (kind) => {
  test('anybody submits the deposit of the order, in the name of its owner', async () => {
    const terms = await termsOf(kind)
    const before = await balanceOf(owner.address)
    const { logs } = await submit(await callOf(terms))
    const [event] = parseEventLogs({ abi: depositoryAbi, logs, eventName: 'RelayErc20Deposit' })
    expect(event?.args).toMatchObject({ amount, id: terms.orderId })
    expect([event?.args.from.toLowerCase(), event?.args.token.toLowerCase()]).toEqual([owner.address, usdc])
    expect(await balanceOf(owner.address)).toBe(before - amount)
    expect(await balanceOf(bench.deployment.permitRouter.contract)).toBe(0n)
  })

  test('a second submission fails, and moves nothing', async () => {
    const data = await callOf(await termsOf(kind))
    await submit(data)
    expect(await refusal(data)).toBe(kind === 'eip3009' ? 'AuthorizationAlreadyUsed' : 'AlreadyDeposited')
  })

  test.each([
    ['another order', { orderId: `0x${'ab'.repeat(32)}` as const }],
    ['another amount', { amount: amount + 1n }],
    ['a later end', { deadlineSeconds: 4_000_000_000 }],
    ['another owner', { owner: `0x${'11'.repeat(20)}` as const }],
  ])('Q-191: a signature serves nothing but its order: not %s', async (_what, change) => {
    const terms = await termsOf(kind)
    const signature = await signTerms(terms)
    const altered = encodeSignedDeposit(kind, { ...terms, ...change }, signature)
    expect(await refusal(altered)).toBe(kind === 'eip3009' ? 'InvalidSignature' : 'TokenCallFailed')
    await submit(encodeSignedDeposit(kind, terms, signature))
  })

  test('a signature of somebody else, a late one and one without money are refused', async () => {
    const terms = await termsOf(kind)
    const ofOther = await callOf(terms, await signTerms(terms, relayer))
    expect(await refusal(ofOther)).toBe(kind === 'eip3009' ? 'InvalidSignature' : 'TokenCallFailed')
    const late = await callOf(await termsOf(kind, { deadlineSeconds: 1_000 }))
    expect(await refusal(late)).toBe(kind === 'eip3009' ? 'AuthorizationExpired' : 'TokenCallFailed')
    const tooMuch = await callOf(await termsOf(kind, { amount: 10n ** 30n }))
    expect(await refusal(tooMuch)).toBe(kind === 'eip3009' ? 'InsufficientBalance' : 'TokenCallFailed')
  })

  test('what is signed hashes as wallets hash it', async () => {
    const terms = await termsOf(kind)
    const { value: message, ...typed } = permitTypedData(terms)
    expect(toHex(permitDigest(terms))).toBe(hashTypedData({ ...typed, message }))
  })
})

describe('the pieces', () => {
  test('calldata and spender are those of the contract', async () => {
    const { contract: address, depositCodeHash } = bench.deployment.permitRouter
    const terms = await termsOf('eip2612')
    const { token, owner: holder, deadlineSeconds, orderId: id } = terms
    const signed = { token, owner: holder, amount, deadline: BigInt(deadlineSeconds), id }
    for (const signature of [await signTerms(terms), '0x', `0x${'12'.repeat(130)}`] as const) {
      const args = [signed, signature] as const
      const abi = permitRouterAbi
      expect([
        encodeSignedDeposit('eip3009', terms, signature),
        encodeSignedDeposit('eip2612', terms, signature),
      ]).toEqual([
        encodeFunctionData({ abi, functionName: 'depositWithAuthorization', args }),
        encodeFunctionData({ abi, functionName: 'depositWithPermit', args }),
      ])
    }
    const { client } = bench.chain
    const read = { address, abi: permitRouterAbi } as const
    const spender = await client.readContract({ ...read, functionName: 'spenderOf', args: [signed] })
    expect(permitSpender(terms, terms.router)).toBe(spender.toLowerCase())
    expect(await client.readContract({ ...read, functionName: 'DEPOSIT_CODE_HASH' })).toBe(depositCodeHash)
  })

  test('a permit that somebody submitted before still becomes its deposit', async () => {
    const terms = await termsOf('eip2612')
    const signature = await signTerms(terms)
    const spender = permitSpender(terms, terms.router)
    const parts = { r: signature.slice(0, 66), s: `0x${signature.slice(66, 130)}` }
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'permit',
      args: [
        owner.address,
        spender,
        amount,
        BigInt(terms.deadlineSeconds),
        Number.parseInt(signature.slice(130), 16),
        // CAST: halves of a signature are 32 bytes of hex.
        parts.r as Hex,
        parts.s as Hex,
      ],
    })
    await bench.send(relayer, usdc, data)
    await submit(encodeSignedDeposit('eip2612', terms, signature))
  })

  test('a contract wallet authorizes with a signature of any length', async () => {
    const signers = [generatePrivateKey(), generatePrivateKey()]
      .map((privateKey) => privateKeyToAccount(privateKey))
      .sort((one, other) => (one.address.toLowerCase() < other.address.toLowerCase() ? -1 : 1))
    const wallet = await deployThroughProxy(
      bench.chain.as(bench.keys.deployer),
      encodeDeployData({
        abi: oracleMultisigAbi,
        bytecode: bench.artifacts.OracleMultisig.bytecode,
        args: [relayer.address],
      }),
      'a contract wallet',
    )
    const initialize = encodeFunctionData({
      abi: oracleMultisigAbi,
      functionName: 'initialize',
      args: [owner.address, signers.map(({ address }) => address), 2n],
    })
    await bench.send(relayer, wallet, initialize)
    const fund = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet, amount] })
    await bench.send(owner, usdc, fund)
    const terms = await termsOf('eip3009', { owner: wallet })
    const { value: message, ...typed } = permitTypedData(terms)
    const parts = await Promise.all(signers.map((signer) => signer.signTypedData({ ...typed, message })))
    await submit(encodeSignedDeposit('eip3009', terms, concatHex(parts)))
    expect(await balanceOf(wallet)).toBe(0n)
  })
})
