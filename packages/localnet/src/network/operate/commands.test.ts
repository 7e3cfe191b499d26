import { ConfigurationError } from '@causeway/core'
import { describe, expect, it } from 'vitest'
import { type OperatorCommand, parseOperatorCommand } from './commands.ts'

const parse = (line: string) =>
  parseOperatorCommand(
    line.split(' ').filter((word) => word !== ''),
    ({ text }) => {
      throw new ConfigurationError(text)
    },
  )

describe('parseOperatorCommand', () => {
  it.each<[string, OperatorCommand]>([
    ['prices set ETH/USD 2600', { kind: 'price', price: 'ETH/USD', answer: 260_000_000_000n }],
    ['prices set usdc/usd 0.98765432', { kind: 'price', price: 'USDC/USD', answer: 98_765_432n }],
    ['prices set sol/usd 165.5', { kind: 'price', price: 'SOL/USD', answer: 16_550_000_000n }],
    ['prices set ETH/USD 0 --only feed', { kind: 'price', price: 'ETH/USD', answer: 0n, only: 'feed' }],
    ['basefee set base 5gwei', { kind: 'basefee', chain: 'base', baseFeeWei: 5_000_000_000n }],
    ['basefee set hub 0.000000001gwei', { kind: 'basefee', chain: 'hub', baseFeeWei: 1n }],
    ['basefee set optimism 7wei', { kind: 'basefee', chain: 'optimism', baseFeeWei: 7n }],
    ['mine base 3', { kind: 'mine', chain: 'base', blocks: 3 }],
    ['mine hub', { kind: 'mine', chain: 'hub', blocks: 1 }],
    [`faucet 0x${'Ab'.repeat(20)}`, { kind: 'faucet', account: `0x${'ab'.repeat(20)}` }],
    ['wallet base safe', { kind: 'wallet', chain: 'base', wallet: 'safe' }],
    ['wallet solana frozen', { kind: 'familyWallet', family: 'solana', wallet: 'frozen' }],
    ['wallet tron blocked', { kind: 'familyWallet', family: 'tron', wallet: 'blocked' }],
    ['deposit base', { kind: 'deposit', chain: 'base', amount: 25_000_000n }],
    ['deposit optimism 0.000001', { kind: 'deposit', chain: 'optimism', amount: 1n }],
    ['deposit solana', { kind: 'familyDeposit', family: 'solana', amount: 2_500_000_000n }],
    ['deposit bitcoin 0.00000001', { kind: 'familyDeposit', family: 'bitcoin', amount: 1n }],
    ['deposit lighter 12', { kind: 'familyDeposit', family: 'lighter', amount: 12_000_000n }],
    ['families', { kind: 'families' }],
    ['silence tron', { kind: 'silence', family: 'tron' }],
    ['submit attestation.json', { kind: 'submit', file: 'attestation.json' }],
  ])('understands %s', (line, command) => {
    expect(parse(line)).toEqual(command)
  })

  it.each([
    '',
    'help',
    'wallet hub safe',
    'wallet base hand',
    'wallet base frozen',
    'wallet solana safe',
    'wallet bitcoin plain',
    'wallet tron',
    'prices',
    'prices get ETH/USD',
    'prices set DOGE/USD 1',
    'prices set ETH/USD',
    'prices set ETH/USD -1',
    'prices set ETH/USD 1e3',
    'prices set ETH/USD 1.123456789',
    'prices set ETH/USD 1 --only pools',
    'prices set ETH/USD 1 --only feed more',
    'basefee set mars 5gwei',
    'basefee set base 5',
    'basefee set base 1.5wei',
    'basefee set base 5gwei more',
    'mine',
    'deposit',
    'deposit hub 1',
    'deposit base -1',
    'deposit base 0.0000001',
    'deposit base 1 more',
    'deposit solana 0',
    'deposit solana -1',
    'deposit bitcoin 0.000000001',
    'deposit tron 1 more',
    'deposit ripple 1',
    'families solana',
    'silence',
    'silence base',
    'silence solana tron',
    'submit',
    'submit one.json two.json',
    'mine base 0',
    'mine base 10001',
    'mine base -1',
    'faucet',
    'faucet 0x12',
    `faucet 0x${'ab'.repeat(20)} more`,
  ])('refuses %j and tells what is right', (line) => {
    expect(() => parse(line)).toThrow(ConfigurationError)
    expect(() => parse(line)).toThrow(/: expected |Usage: npm run localnet --/)
  })
})
