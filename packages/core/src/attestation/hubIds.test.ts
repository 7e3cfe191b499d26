// Vectors of ids on the hub, rule P-127.
// @source github.com/relayprotocol/relay-settlement, packages/sdk/test/hub-utils/fixtures

import fc from 'fast-check'
import { encodePacked, getAddress, keccak256, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { accounts, currencies } from '../../test/arbitraries/addresses.ts'
import {
  baseUsdc,
  bitcoinNative,
  networkOf,
  orderBId,
  repeated,
  solanaDepository,
  solanaOwner,
  solanaUsdc,
  tronNative,
} from '../../test/vectors/orders.ts'
import type { ProtocolChain } from '../chain/protocolChain.ts'
import { checksumAddress } from '../encodings/checksumAddress.ts'
import { mainNetwork, vmTypes } from '../encodings/codecs.ts'
import { InvalidAddressError } from '../encodings/errors.ts'
import type { Hex } from '../hex.ts'
import { derivedHubChainId, hubAlias, hubTokenId, orderAddress, withdrawalAddress } from './hubIds.ts'

function chain(chainId: string): ProtocolChain {
  const network = networkOf(chainId)
  if (network === undefined) throw new Error(`no chain ${chainId}`)
  return { chainId, ...network }
}

const evmNative = repeated('00', 20)
const aliasOfOnes: Hex = '0x655A50C47473D8Fd8f2A129996f0062C287ac97D'

test.each<[string, string, bigint, Hex]>([
  [
    'ethereum',
    evmNative,
    75768216729734233842356022798368373679005098618301361336704166989654078618295n,
    '0x251EdF52aBa8E3aEA24d7021dC1c76CC7a857AB7',
  ],
  [
    'base',
    baseUsdc,
    86512134522270721992957910457991533944458899231992780260485192288294071515448n,
    '0xa290C277E9b2D7269209615d306c15A8cd8D3938',
  ],
  [
    'solana',
    solanaUsdc,
    72630457970927688859518598921094794508663362931548696331709346694245435211328n,
    '0xDcEef346cB004c0cB4Ee7F28d7e282e2d9AA7e40',
  ],
  [
    'bitcoin',
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    113774434098830343795219008544843424141910643621990732712082723130350939374017n,
    '0xbd486068A01099c7eBa6614f798424d4A51381c1',
  ],
  [
    'bitcoin',
    bitcoinNative,
    92790975152359562336542918779047716403769291683730321299469526361874965529445n,
    '0x819361ec39018380595dCa029aD89B1E04B50365',
  ],
  [
    'bitcoin',
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    42577469668873502540016978116010942161412334225356834394681890057413947566057n,
    '0x5Ca5df4a1C6A2826beE3dEB6EB8C05f8e15027E9',
  ],
  [
    'tron',
    tronNative,
    66199585398216094478093028437081533774154606364138996317986376998302885299675n,
    '0xbF6Cce5F6FC36B90712fc108B17bFea75BaF45DB',
  ],
  [
    'lighter',
    '0',
    33827477529693877703527191291502620172030107800276013854038216314513074192097n,
    '0xC57E97C14b9EF669e0ca437d78f036781f247EE1',
  ],
])('token id and alias of %s %s are the published ones', (chainId, address, tokenId, alias) => {
  expect(hubTokenId(chain(chainId), address)).toBe(tokenId)
  expect(hubAlias(chain(chainId), address)).toBe(alias.toLowerCase())
  expect(checksumAddress(hubAlias(chain(chainId), address))).toBe(alias)
})

test('the token id of native hyperliquid is the published one', () => {
  expect(hubTokenId(chain('hyperliquid'), repeated('00', 16))).toBe(
    103917556741680225303801409477047529438646539725594852362405311954551467894825n,
  )
})

test('the currency of a hyperliquid dex has no token id', () => {
  expect(() => hubTokenId(chain('hyperliquid'), `${repeated('6d', 16)}78797a`)).toThrow(InvalidAddressError)
})

test.each<[string, string, Hex]>([
  ['ethereum', repeated('11', 20), aliasOfOnes],
  ['hyperliquid', '0xabcdef1234567890abcdef1234567890abcdef12', '0xbb85825Ea8e3E3301Bd6D6b184E2ee087568A844'],
  ['base', '0x2e988a386a799f506693793c6a5af6b54dfaabfb', '0x37aF10adBC4864042698b5735132a3c8C2b146Bf'],
  ['base', repeated('44', 20), '0x2C12D14316D555AbF9Eb1F0cE64444855341a002'],
])('the alias of %s %s is the published one', (chainId, address, alias) => {
  expect(checksumAddress(hubAlias(chain(chainId), address))).toBe(alias)
})

test.each<[string, string, Hex]>([
  ['ethereum', repeated('11', 20), '0x48dd97456ea2aed0520f5386f4146f867c61e565'],
  ['solana', solanaOwner, '0x9e2005e82e9c0e49e4c68fda5b2a5720f0d5e086'],
])('the order address of %s is the published one', (chainId, depositor, address) => {
  const deposit = { depositor, timestampSeconds: 1700000000n, depositId: orderBId }
  expect(orderAddress(chain(chainId), deposit)).toBe(address)
})

describe('the withdrawal address', () => {
  const someone = repeated('9876543210', 4)

  test('of an EVM withdrawal is the published one', () => {
    const withdrawal = {
      depository: repeated('1234567890', 4),
      currency: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      recipient: someone,
      ownerAlias: someone,
      nonce: 0n,
    }
    expect(withdrawalAddress(chain('ethereum'), withdrawal)).toBe(
      '0x7e596875c1a01b49206fb48d16ff7fa4eb337543',
    )
  })

  test('of a solana withdrawal is the published one', () => {
    const withdrawal = {
      depository: solanaDepository,
      currency: solanaUsdc,
      recipient: solanaOwner,
      ownerAlias: hubAlias(chain('ethereum'), repeated('11', 20)),
      nonce: 42n,
    }
    expect(withdrawalAddress(chain('solana'), withdrawal)).toBe('0x0058aafbf2fb0f044f7879fba7c8a7ef5bc90bfd')
  })

  test('refuses an address of another family', () => {
    const withdrawal = {
      depository: someone,
      currency: solanaUsdc,
      recipient: solanaOwner,
      ownerAlias: aliasOfOnes,
      nonce: 42n,
    }
    expect(() => withdrawalAddress(chain('solana'), withdrawal)).toThrow(InvalidAddressError)
  })
})

test('the hub chain id of a chain without its own number is the hash of its name', () => {
  expect(derivedHubChainId('solana')).toBe(
    50176979118388105370421134508366610418687875236156196470082648173271157915018n,
  )
})

test.each(vmTypes)('P-127: ids of %s are hashes of packed bytes, as viem packs them', (vmType) => {
  const chainOf = { chainId: vmType.replace('-vm', ''), ...mainNetwork(vmType) }
  const twentyBytes = (hash: Hex): Hex => `0x${hash.slice(26)}`
  const uint = fc.bigInt({ min: 0n, max: 2n ** 64n })
  fc.assert(
    fc.property(accounts[vmType], currencies[vmType], uint, ({ text, bytes }, currency, number) => {
      const account = toHex(bytes)
      expect(hubAlias(chainOf, text)).toBe(
        twentyBytes(keccak256(encodePacked(['string', 'bytes'], [chainOf.chainId, account]))),
      )
      expect(orderAddress(chainOf, { depositor: text, timestampSeconds: number, depositId: orderBId })).toBe(
        twentyBytes(
          keccak256(
            encodePacked(
              ['string', 'bytes', 'uint256', 'bytes32'],
              [chainOf.chainId, account, number, orderBId],
            ),
          ),
        ),
      )
      const withdrawal = { depository: text, currency: currency.text, recipient: text, nonce: number }
      expect(withdrawalAddress(chainOf, { ...withdrawal, ownerAlias: aliasOfOnes })).toBe(
        twentyBytes(
          keccak256(
            encodePacked(
              ['string', 'bytes', 'bytes', 'bytes', 'address', 'uint256'],
              [chainOf.chainId, account, toHex(currency.bytes), account, aliasOfOnes, number],
            ),
          ),
        ),
      )
    }),
  )
})

test('checksumAddress equals viem', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (bytes) => {
      const address = toHex(bytes)
      expect(checksumAddress(address)).toBe(getAddress(address))
    }),
  )
})

test('a chain of a test network encodes the addresses of that network and refuses all others', () => {
  const regtest = { chainId: 'bitcoin', vmType: 'bitcoin-vm', network: 'regtest' } as const
  const onRegtest = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'
  const onMainnet = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
  const mainnet = { chainId: 'bitcoin', ...mainNetwork('bitcoin-vm') }
  expect(hubAlias(regtest, onRegtest)).toBe(hubAlias(mainnet, onMainnet))
  expect(() => hubAlias(regtest, onMainnet)).toThrow(InvalidAddressError)
  expect(() => hubAlias(mainnet, onRegtest)).toThrow(InvalidAddressError)
})
