import { describe, expect, it } from 'vitest'
import { haltedChains } from './oracleHalts.ts'

const [base, optimism] = [8453, 10]

describe('O-64, O-65: a chain is halted where too few oracles are left to attest anything of it', () => {
  it.each([
    ['nobody halts anything', [], { oracles: 3, threshold: 2 }, []],
    ['one alone, who may lie', [base], { oracles: 3, threshold: 2 }, []],
    ['two of three', [base, optimism, base], { oracles: 3, threshold: 2 }, [base]],
    ['both chains', [base, optimism, base, optimism], { oracles: 3, threshold: 2 }, [optimism, base]],
    ['one of three, all of whom are needed', [base], { oracles: 3, threshold: 3 }, [base]],
    ['the only one', [base], { oracles: 1, threshold: 1 }, [base]],
    ['three of five', [base, base, base], { oracles: 5, threshold: 3 }, [base]],
    ['two of five', [base, base], { oracles: 5, threshold: 3 }, []],
  ])('%s', (_, halts, settings, halted) => {
    expect(haltedChains(halts, settings)).toEqual(halted)
  })
})
