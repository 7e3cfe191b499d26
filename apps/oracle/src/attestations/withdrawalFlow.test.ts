// The withdrawal-address flow, rules P-80 to P-83, P-111 and P-121.
import {
  bytesToHex,
  encodeTransferAction,
  hubAlias,
  hubTokenId,
  keccak256,
  type OwnerRequest,
  ownerRequestDigest,
  ownerRequestHash,
  withdrawalAddress,
  withdrawalInitiationKey,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { orderBSolverKey, repeated } from '../../../../packages/core/test/vectors/orders.ts'
import {
  owners,
  signBip322,
  signDigest,
  signEd25519,
  signTaproot,
} from '../../../../packages/core/test/vectors/ownerKeys.ts'
import {
  initiation,
  options,
  owner,
  flowRequest as request,
  flowScripts as scripts,
  spender,
  ownerRequest as unsigned,
} from '../../test/fixtures/withdrawing.ts'
import { chains, nativeCurrency, otherDepository, world } from '../../test/fixtures/world.ts'
import { type WithdrawalFlowRequest, withdrawalFlowRequestSchema } from '../wire/requests.ts'
import { attestWithdrawalInitiation } from './withdrawalInitiation.ts'

/** As a Tron wallet signs text of 64 characters. */
function tronMessageHash(hash: Uint8Array): Uint8Array {
  const text = Buffer.from(`\x19TRON Signed Message:\n64${Buffer.from(hash).toString('hex')}`)
  return keccak256(text)
}

describe('initiation', () => {
  test('moves the amount from the owner to the withdrawal address', async () => {
    const { withdrawalAddress: hubTo, execution } = await initiation(await request(), 1_000_000n)
    const token = hubTokenId({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, nativeCurrency)
    expect(execution).toEqual({
      idempotencyKey: withdrawalInitiationKey({
        hubId: 'relay',
        hubTokenId: token,
        withdrawalAddress: hubTo,
      }),
      actions: [encodeTransferAction({ hubFrom: spender, hubTo, hubTokenId: token, amount: 1_000_000n })],
      signatures: [],
    })
  })

  test('is not kept, because the balance moves', async () => {
    const context = world(scripts, { [spender]: 1_000_000n })
    expect((await attestWithdrawalInitiation(await request(), context, options)).isFinal).toBe(false)
  })

  test('above the balance tells what there is, and what was asked for', async () => {
    await expect(initiation(await request(), 999_999n)).rejects.toMatchObject({
      code: 'INSUFFICIENT_HUB_BALANCE',
      data: { balance: '999999', amount: '1000000' },
    })
  })

  test('names the published withdrawal address and key for a withdrawal to solana', async () => {
    const aliasOfOnes = '0x655a50c47473d8fd8f2a129996f0062c287ac97d'
    const solana = { chainId: 'solana', ...mainNetwork('solana-vm') } as const
    const currency = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    const address = withdrawalAddress(solana, {
      depository: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
      currency,
      recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
      ownerAlias: aliasOfOnes,
      nonce: 42n,
    })
    expect(address).toBe('0x0058aafbf2fb0f044f7879fba7c8a7ef5bc90bfd')
    const key = withdrawalInitiationKey({
      hubId: 'relay',
      hubTokenId: hubTokenId(solana, currency),
      withdrawalAddress: address,
    })
    expect(key).toBe('0x66ee6aa9676deeb257c857453a42c76bc8c25b8fa1e2544e50263e3b15c981f6')
  })

  test('does not depend on how the nonce is written', async () => {
    const decimal = await initiation(await request(), 1_000_000n)
    const hex = await initiation(await request({ nonce: '0x2a' }), 1_000_000n)
    expect(hex).toEqual(decimal)
  })

  test.each<[string, Partial<OwnerRequest>, object, bigint, string]>([
    ['of nothing', { amount: '0' }, {}, 10n, 'ZERO_AMOUNT'],
    ['above the balance', {}, {}, 999_999n, 'INSUFFICIENT_HUB_BALANCE'],
    [
      'from a foreign depository',
      {},
      { depository: repeated('66', 20) },
      10n ** 9n,
      'DEPOSITORY_NOT_CONFIGURED',
    ],
    ['with an empty signature', {}, { ownerSignature: '0x' }, 10n ** 9n, 'INVALID_OWNER_SIGNATURE'],
    [
      'with a short signature',
      {},
      { ownerSignature: `0x${'11'.repeat(64)}` },
      10n ** 9n,
      'INVALID_OWNER_SIGNATURE',
    ],
    [
      'with a long signature',
      {},
      { ownerSignature: `0x${'11'.repeat(66)}` },
      10n ** 9n,
      'INVALID_OWNER_SIGNATURE',
    ],
    [
      'with a signature of zeros',
      {},
      { ownerSignature: `0x${'00'.repeat(65)}` },
      10n ** 9n,
      'INVALID_OWNER_SIGNATURE',
    ],
    ['of another owner', {}, { owner: repeated('99', 20) }, 10n ** 9n, 'INVALID_OWNER_SIGNATURE'],
    ['of another amount than signed', {}, { amount: '1' }, 10n ** 9n, 'INVALID_OWNER_SIGNATURE'],
    ['of another nonce than signed', {}, { nonce: '43' }, 10n ** 9n, 'INVALID_OWNER_SIGNATURE'],
    [
      'to another recipient than signed',
      {},
      { recipient: repeated('23', 20) },
      10n ** 9n,
      'INVALID_OWNER_SIGNATURE',
    ],
    ['on another chain than signed', {}, { chainId: 'base' }, 10n ** 9n, 'INVALID_OWNER_SIGNATURE'],
    [
      'of an owner on another chain than signed',
      {},
      { ownerChainId: 'ethereum' },
      10n ** 9n,
      'INVALID_OWNER_SIGNATURE',
    ],
    ['with data that was not signed', {}, { additionalData: {} }, 10n ** 9n, 'INVALID_OWNER_SIGNATURE'],
    [
      'F-46: of what tells of moved ether',
      { currency: `0x${'ff'.repeat(19)}fe` },
      {},
      10n ** 9n,
      'INVALID_ADDRESS',
    ],
    ['of an owner that is none on its chain', { ownerChainId: 'solana' }, {}, 10n ** 9n, 'INVALID_ADDRESS'],
    ['to an unknown chain', { chainId: 'moon' }, {}, 10n ** 9n, 'UNKNOWN_CHAIN'],
  ])('%s is refused', async (_what, change, unsignedPart, balance, code) => {
    const body = await request(change, unsignedPart)
    await expect(initiation(body, balance)).rejects.toMatchObject({ code })
  })

  test('may name an additional depository, which gives another address', async () => {
    const primary = await initiation(await request(), 1_000_000n)
    const additional = await initiation(await request({}, { depository: otherDepository }), 1_000_000n)
    expect(additional.withdrawalAddress).not.toBe(primary.withdrawalAddress)
  })
})

describe('an owner of another family', () => {
  const signedBy = (
    ownerChainId: string,
    account: string,
    sign: (hash: Uint8Array) => `0x${string}`,
  ): WithdrawalFlowRequest => {
    const signed = { ...unsigned, ownerChainId, owner: account }
    return withdrawalFlowRequestSchema.parse({ ...signed, ownerSignature: sign(ownerRequestHash(signed)) })
  }
  const digits = (hash: Uint8Array) => Buffer.from(hash).toString('hex')
  const families: [string, string, (hash: Uint8Array) => `0x${string}`][] = [
    ['solana', owners.solana, (hash) => signEd25519(digits(hash))],
    ['tron', owners.tron, (hash) => signDigest(tronMessageHash(hash))],
    ['bitcoin', owners.p2wpkh, (hash) => signBip322(digits(hash), 'p2wpkh')],
    ['bitcoin', owners.p2tr, (hash) => signTaproot(digits(hash))],
  ]

  test.each(families)(
    'on %s (%s) withdraws what it holds, and nothing with another signature',
    async (chainId, account, sign) => {
      const body = signedBy(chainId, account, sign)
      const vmType = chains.get(chainId)?.vmType ?? 'ethereum-vm'
      const alias = hubAlias({ chainId, ...mainNetwork(vmType) }, account)
      const context = world(scripts, { [alias]: 1_000_000n })
      const { unsigned: answer } = await attestWithdrawalInitiation(body, context, options)
      expect(answer.execution.actions).toHaveLength(1)
      const other = { ...body, nonce: '43' }
      await expect(attestWithdrawalInitiation(other, context, options)).rejects.toMatchObject({
        code: 'INVALID_OWNER_SIGNATURE',
      })
    },
  )

  test.each<readonly [string, (signature: string) => string]>([
    ['without 0x', (signature) => signature.slice(2)],
    ['in upper case', (signature) => `0x${signature.slice(2).toUpperCase()}`],
    ['in upper case without 0x', (signature) => signature.slice(2).toUpperCase()],
  ])('P-111: on solana may write the signature %s', async (_name, spell) => {
    const signed = { ...unsigned, ownerChainId: 'solana', owner: owners.solana }
    const ownerSignature = spell(signEd25519(digits(ownerRequestHash(signed))))
    const body = withdrawalFlowRequestSchema.parse({ ...signed, ownerSignature })
    const alias = hubAlias({ chainId: 'solana', ...mainNetwork('solana-vm') }, owners.solana)
    const context = world(scripts, { [alias]: 1_000_000n })
    const { unsigned: answer } = await attestWithdrawalInitiation(body, context, options)
    expect(answer.execution.actions).toHaveLength(1)
  })

  test.each([
    ['empty', ''],
    ['a prefix alone', '0x'],
    ['a byte short', 'ab'.repeat(63)],
    ['a byte long', `0x${'ab'.repeat(65)}`],
    ['all zeros', '00'.repeat(64)],
  ])('on solana signs nothing with a signature that is %s', async (_name, ownerSignature) => {
    const signed = { ...unsigned, ownerChainId: 'solana', owner: owners.solana, ownerSignature }
    const body = withdrawalFlowRequestSchema.parse(signed)
    await expect(attestWithdrawalInitiation(body, world(scripts), options)).rejects.toMatchObject({
      code: 'INVALID_OWNER_SIGNATURE',
    })
  })

  test('on lighter signs by the key that its chain names', async () => {
    const hash = { ...unsigned, ownerChainId: 'lighter', owner: '723071' }
    const ownerSignature = await sign({
      hash: bytesToHex(ownerRequestDigest(hash)),
      privateKey: orderBSolverKey,
      to: 'hex',
    })
    const body = withdrawalFlowRequestSchema.parse({ ...hash, ownerSignature })
    const alias = hubAlias({ chainId: 'lighter', ...mainNetwork('lighter-vm') }, '723071')
    const of = (key: `0x${string}`) =>
      attestWithdrawalInitiation(
        body,
        world({ ...scripts, lighter: { ownerKeys: { 723071: key } } }, { [alias]: 1_000_000n }),
        options,
      )
    expect((await of(owner)).unsigned.execution.actions).toHaveLength(1)
    await expect(of(repeated('99', 20))).rejects.toMatchObject({ code: 'INVALID_OWNER_SIGNATURE' })
    const keyless = world({ ...scripts, lighter: {} }, { [alias]: 1_000_000n })
    await expect(attestWithdrawalInitiation(body, keyless, options)).rejects.toMatchObject({
      code: 'OWNER_CHAIN_NOT_SUPPORTED',
      data: { ownerChainId: 'lighter' },
    })
    await expect(attestWithdrawalInitiation(body, world(scripts), options)).rejects.toMatchObject({
      code: 'CHAIN_UNAVAILABLE',
    })
  })
})

describe('an owner with code', () => {
  const worldOf = () => world({ ...scripts, base: { acceptsByCode: () => true } }, { [spender]: 1_000_000n })
  const unkeyed = (change: object = {}) =>
    request({}, { ownerSignature: `0x${'ab'.repeat(4_096)}`, ...change })

  test('P-80: is asked over what a key would sign, on the chain of the owner alone', async () => {
    const context = worldOf()
    const { evidence } = await attestWithdrawalInitiation(await unkeyed(), context, options)
    expect(evidence).toMatchObject([{ chainId: 'base' }])
    expect(context.asked).toMatchObject([
      {
        chainId: 'base',
        what: 'code-signature',
        question: { account: owner, digest: ownerRequestDigest(unsigned) },
      },
    ])
    const elsewhere = attestWithdrawalInitiation(
      await unkeyed({ ownerChainId: 'ethereum' }),
      worldOf(),
      options,
    )
    await expect(elsewhere).rejects.toMatchObject({ code: 'INVALID_OWNER_SIGNATURE' })
  })

  test('P-80: whose key signed is not asked', async () => {
    const context = worldOf()
    await attestWithdrawalInitiation(await request(), context, options)
    expect(context.asked).toEqual([])
  })

  test('P-83: on a chain whose reader asks no code is told that the owner did not sign', async () => {
    const context = worldOf()
    const { readCodeSignature: _asked, ...codeless } = context.readerOf('base')
    const body = await unkeyed()
    await expect(
      attestWithdrawalInitiation(body, { ...context, readerOf: () => codeless }, options),
    ).rejects.toMatchObject({ code: 'INVALID_OWNER_SIGNATURE' })
  })

  test('P-81: that is yet to be deployed is refused by name, and not asked', async () => {
    const context = worldOf()
    const body = await unkeyed({ ownerSignature: `0x${'ab'.repeat(96)}${'6492'.repeat(16)}` })
    await expect(attestWithdrawalInitiation(body, context, options)).rejects.toMatchObject({
      code: 'INVALID_OWNER_SIGNATURE',
      message: expect.stringContaining('ERC-6492'),
    })
    expect(context.asked).toEqual([])
  })

  test('P-80: whose chain no endpoint of this oracle reads is not judged', async () => {
    const { base: _unread, ...read } = scripts
    const unknown = attestWithdrawalInitiation(await unkeyed(), world(read), options)
    await expect(unknown).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  })
})
