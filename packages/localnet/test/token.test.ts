// Goal: the tokens accept the permits and authorizations that wallets sign, each once and only from
// the account that signed. Method: USDC as deployed, on a real node, signed through viem.
import type { Hex } from '@causeway/core'
import { domainSeparator, encodeFunctionData, maxUint256, parseSignature, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokenAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment, TokenSymbol } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

const payee: Hex = `0x${'33'.repeat(20)}`
const value = 1_000n

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

const domain = () => ({
  name: 'USD Coin',
  version: '2',
  chainId: bench.chain.chainId,
  verifyingContract: usdc,
})
const balanceOf = (holder: Hex) =>
  bench.chain.client.readContract({
    address: usdc,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [holder],
  })
const freshNonce = (): Hex => generatePrivateKey()

async function chainSeconds(): Promise<bigint> {
  return (await bench.chain.client.getBlock()).timestamp
}

function split(signature: Hex) {
  const { r, s, yParity } = parseSignature(signature)
  return { v: 27 + yParity, r, s }
}

describe('what a token says of itself', () => {
  test.each([
    ['USDC', 'USD Coin', '2', 6],
    ['USDX', 'USD X', '1', 6],
    ['TIDE', 'Tide', '1', 18],
  ] as const)(
    '%s names the domain that wallets sign for',
    async (symbol: TokenSymbol, name, version, decimals) => {
      const contract = { address: bench.deployment.tokens[symbol], abi: tokenAbi } as const
      const { client, chainId } = bench.chain
      const expected = domainSeparator({
        domain: { name, version, chainId, verifyingContract: contract.address },
      })
      expect(await client.readContract({ ...contract, functionName: 'DOMAIN_SEPARATOR' })).toBe(expected)
      expect(await client.readContract({ ...contract, functionName: 'name' })).toBe(name)
      expect(await client.readContract({ ...contract, functionName: 'version' })).toBe(version)
      expect(await client.readContract({ ...contract, functionName: 'symbol' })).toBe(symbol)
      expect(await client.readContract({ ...contract, functionName: 'decimals' })).toBe(decimals)
    },
  )

  // EIP-2612, EIP-3009
  test.each([
    ['PERMIT_TYPEHASH', '0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9'],
    [
      'TRANSFER_WITH_AUTHORIZATION_TYPEHASH',
      '0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267',
    ],
    [
      'RECEIVE_WITH_AUTHORIZATION_TYPEHASH',
      '0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8',
    ],
  ] as const)('%s is the published one', async (functionName, expected) => {
    expect(await bench.chain.client.readContract({ address: usdc, abi: tokenAbi, functionName })).toBe(
      expected,
    )
  })
})

describe('permits', () => {
  async function permit(deadline: bigint, signer: LocalAccount, nonce: bigint): Promise<Hex> {
    const signature = await privateKeyToAccount(signer.privateKey).signTypedData({
      domain: domain(),
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: { owner: owner.address, spender: payee, value, nonce, deadline },
    })
    const { v, r, s } = split(signature)
    return encodeFunctionData({
      abi: tokenAbi,
      functionName: 'permit',
      args: [owner.address, payee, value, deadline, v, r, s],
    })
  }

  test('anyone submits a permit, once', async () => {
    const data = await permit(maxUint256, owner, 0n)
    await bench.send(relayer, usdc, data)
    const allowance = await bench.chain.client.readContract({
      address: usdc,
      abi: tokenAbi,
      functionName: 'allowance',
      args: [owner.address, payee],
    })
    expect(allowance).toBe(value)
    expect(await bench.revert(relayer, usdc, data)).toBe('InvalidSignature')
  })

  test('a late permit, and one that somebody else signed, are refused', async () => {
    const late = await permit((await chainSeconds()) - 1n, owner, 1n)
    expect(await bench.revert(relayer, usdc, late)).toBe('PermitExpired')
    expect(await bench.revert(relayer, usdc, await permit(maxUint256, relayer, 1n))).toBe('InvalidSignature')
  })
})

describe('authorizations', () => {
  const fields = [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ] as const
  const types = {
    TransferWithAuthorization: fields,
    ReceiveWithAuthorization: fields,
    CancelAuthorization: [
      { name: 'authorizer', type: 'address' },
      { name: 'nonce', type: 'bytes32' },
    ],
  } as const

  type Authorization = {
    readonly primaryType: 'TransferWithAuthorization' | 'ReceiveWithAuthorization'
    readonly signer: LocalAccount
    readonly to: Hex
    readonly validAfter: bigint
    readonly validBefore: bigint
    readonly nonce: Hex
  }

  const authorization = (more: Partial<Authorization> = {}): Authorization => ({
    primaryType: 'TransferWithAuthorization',
    signer: owner,
    to: payee,
    validAfter: 0n,
    validBefore: maxUint256,
    nonce: freshNonce(),
    ...more,
  })

  function sign({ signer, primaryType, ...rest }: Authorization): Promise<Hex> {
    const message = { from: owner.address, value, ...rest }
    return privateKeyToAccount(signer.privateKey).signTypedData({
      domain: domain(),
      types,
      primaryType,
      message,
    })
  }

  async function withSplitSignature(given: Authorization): Promise<Hex> {
    const { v, r, s } = split(await sign(given))
    const functionName =
      given.primaryType === 'ReceiveWithAuthorization'
        ? 'receiveWithAuthorization'
        : 'transferWithAuthorization'
    return encodeFunctionData({
      abi: tokenAbi,
      functionName,
      args: [owner.address, given.to, value, given.validAfter, given.validBefore, given.nonce, v, r, s],
    })
  }

  async function withWholeSignature(given: Authorization, signature?: Hex): Promise<Hex> {
    return encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferWithAuthorization',
      args: [
        owner.address,
        given.to,
        value,
        given.validAfter,
        given.validBefore,
        given.nonce,
        signature ?? (await sign(given)),
      ],
    })
  }

  const isUsed = (nonce: Hex) =>
    bench.chain.client.readContract({
      address: usdc,
      abi: tokenAbi,
      functionName: 'authorizationState',
      args: [owner.address, nonce],
    })

  test.each([
    ['0xe3ee160e', withSplitSignature],
    ['0xcf092995', withWholeSignature],
  ] as const)('a transfer by %s moves tokens once', async (selector, encode) => {
    const given = authorization()
    const data = await encode(given)
    expect(data.startsWith(selector)).toBe(true)
    const before = await balanceOf(payee)
    await bench.send(relayer, usdc, data)
    expect((await balanceOf(payee)) - before).toBe(value)
    expect(await isUsed(given.nonce)).toBe(true)
    expect(await bench.revert(relayer, usdc, data)).toBe('AuthorizationAlreadyUsed')
  })

  test('a receipt is submitted by its payee alone', async () => {
    const given = authorization({ primaryType: 'ReceiveWithAuthorization', to: relayer.address })
    const data = await withSplitSignature(given)
    expect(data.startsWith('0xef55bec6')).toBe(true)
    expect(await bench.revert(owner, usdc, data)).toBe('CallerNotPayee')
    const before = await balanceOf(relayer.address)
    await bench.send(relayer, usdc, data)
    expect((await balanceOf(relayer.address)) - before).toBe(value)
  })

  test('an authorization to transfer is none to receive', async () => {
    const given = authorization({ to: relayer.address })
    const { v, r, s } = split(await sign(given))
    const data = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'receiveWithAuthorization',
      args: [owner.address, given.to, value, given.validAfter, given.validBefore, given.nonce, v, r, s],
    })
    expect(await bench.revert(relayer, usdc, data)).toBe('InvalidSignature')
  })

  test('times are strict on both ends', async () => {
    const now = await chainSeconds()
    // A call runs in the time of the last block or of a later one, hence the distance.
    const early = await withSplitSignature(authorization({ validAfter: now + 1_000n }))
    expect(await bench.revert(relayer, usdc, early)).toBe('AuthorizationNotYetValid')
    const late = await withSplitSignature(authorization({ validBefore: now }))
    expect(await bench.revert(relayer, usdc, late)).toBe('AuthorizationExpired')
  })

  test('a wrong signer, a malformed signature and the other half of the curve are refused', async () => {
    const forged = await withSplitSignature(authorization({ signer: relayer }))
    expect(await bench.revert(relayer, usdc, forged)).toBe('InvalidSignature')

    const given = authorization()
    const signature = await sign(given)
    const short = await withWholeSignature(given, `0x${signature.slice(2, 130)}`)
    expect(await bench.revert(relayer, usdc, short)).toBe('InvalidSignature')
    const high = await withWholeSignature(given, withHighS(signature))
    expect(await bench.revert(relayer, usdc, high)).toBe('InvalidSignature')
  })

  test('a cancelled authorization moves nothing', async () => {
    const given = authorization()
    const signature = await privateKeyToAccount(owner.privateKey).signTypedData({
      domain: domain(),
      types,
      primaryType: 'CancelAuthorization',
      message: { authorizer: owner.address, nonce: given.nonce },
    })
    const { v, r, s } = split(signature)
    const cancel = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'cancelAuthorization',
      args: [owner.address, given.nonce, v, r, s],
    })
    await bench.send(relayer, usdc, cancel)
    expect(await isUsed(given.nonce)).toBe(true)
    expect(await bench.revert(relayer, usdc, await withSplitSignature(given))).toBe(
      'AuthorizationAlreadyUsed',
    )
  })
})

describe('transfers', () => {
  test('more than one has, or may spend, is refused', async () => {
    const transfer = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transfer',
      args: [payee, maxUint256],
    })
    expect(await bench.revert(owner, usdc, transfer)).toBe('InsufficientBalance')
    const pull = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'transferFrom',
      args: [owner.address, payee, 1n],
    })
    expect(await bench.revert(relayer, usdc, pull)).toBe('InsufficientAllowance')
  })

  test('only the owner mints', async () => {
    const mint = encodeFunctionData({
      abi: tokenAbi,
      functionName: 'mint',
      args: [[{ to: owner.address, amount: 1n }]],
    })
    expect(await bench.revert(owner, usdc, mint)).toBe('NotOwner')
    await bench.send(bench.keys.deployer, usdc, mint)
  })
})

/** Returns the other valid form of a signature: s negated, v flipped. */
function withHighS(signature: Hex): Hex {
  const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const { v, r, s } = split(signature)
  return `${r}${toHex(curveOrder - BigInt(s), { size: 32 }).slice(2)}${v === 27 ? '1c' : '1b'}`
}
