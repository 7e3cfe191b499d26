import { expect, test } from 'vitest'
import { exceptions, familiesCheck } from './families.ts'

const file = (path: string, text: string) => ({ path, text })
const excepted = Object.keys(exceptions).map((path) => file(path, "const vmType = 'solana-vm'"))
const find = (path: string, text: string) => familiesCheck.find([...excepted, file(path, text)])

test.each([
  ["if (chain.vmType === 'ethereum-vm') deposit()", 'ethereum-vm'],
  ["import { lighterCurrency } from '@causeway/core'", 'lighter'],
  [['const account = `a $', '{name} of Solana`'].join(''), 'Solana'],
  ["const fees = { 'tron-vm': 1n }", 'tron-vm'],
  ['const lamports = 5n', 'lamport'],
  ['const price = feeSun * 2n', 'eSun'],
  ["await client.request({ method: 'eth_call', params })", 'eth_call'],
])('pricing that names a family is found: %s', (text, name) => {
  expect(find('apps/quote-api/src/pricing/fees/gas.ts', text)).toEqual([
    {
      file: 'apps/quote-api/src/pricing/fees/gas.ts',
      problem: `it names the family ${name}; ask the family's record for what differs`,
    },
  ])
})

test.each([
  ['apps/quote-api/src/pricing/fees/gas.ts', '// A deposit on Solana is signed twice.\nconst electron = 1'],
  ['packages/core/src/encodings/solana.ts', "const vmType = 'solana-vm'"],
  ['packages/families/src/chainFamilies.ts', "const line = { 'solana-vm': 1 }"],
  ['apps/quote-api/src/pricing/fees/gas.test.ts', "const vmType = 'solana-vm'"],
  ['packages/localnet/src/families/solanaStandIn.ts', "const vmType = 'solana-vm'"],
])('families are named at home, in registries, tests and comments: %s', (path, text) => {
  expect(find(path, text)).toEqual([])
})

test('an exception that is needed no more is found', () => {
  const [first, ...others] = excepted
  expect(familiesCheck.find(others)).toEqual([
    { file: first?.path, problem: 'it names no family; drop it from the exceptions' },
  ])
})
