/** Sources of one part that are mutated, and the tests that must notice. */
export type MutatedPart = {
  /** Globs of pure rules, from the repository's root; tests and their data are left out. */
  readonly rules: readonly string[]
  /** Globs of what stands among them and reads, writes or waits: tests of whole services prove it. */
  readonly except?: readonly string[]
  /** Globs of test files of the project `unit`. */
  readonly tests: readonly string[]
}

/** The pure rules of money and truth, by the word that `npm run test:mutation` takes. */
export const mutatedParts: Readonly<Record<string, MutatedPart>> = {
  core: {
    rules: [
      'packages/core/src/{attestation,chain,currency,fees,hashing,money,order,pools,signatures}/**/*.ts',
    ],
    tests: ['packages/core/src/**/*.test.ts'],
  },
  attestations: {
    rules: ['packages/attestations/src/**/*.ts'],
    tests: ['packages/attestations/src/**/*.test.ts'],
  },
  signer: {
    rules: ['packages/signer/src/caps/signingCaps*.ts', 'packages/signer/src/*{Signature,Signer}.ts'],
    except: ['packages/signer/src/{awsKms,configured,threaded}Signer.ts'],
    tests: ['packages/signer/src/**/*.test.ts', 'apps/oracle/src/caps/**/*.test.ts'],
  },
  oracle: {
    rules: ['apps/oracle/src/{attestations,peers,caps}/**/*.ts'],
    except: ['apps/oracle/src/caps/{shared,open}*.ts', 'apps/oracle/src/peers/peerClient*.ts'],
    tests: ['apps/oracle/src/{attestations,peers,caps}/**/*.test.ts'],
  },
  pricing: {
    rules: ['apps/quote-api/src/pricing/**/*.ts'],
    tests: ['apps/quote-api/src/pricing/**/*.test.ts'],
  },
  market: {
    rules: ['packages/market/src/{evaluation,prices}/**/*.ts'],
    tests: ['packages/market/src/**/*.test.ts'],
  },
  families: {
    rules: ['packages/families/src/rules/**/*.ts', 'packages/families/src/*/rules/**/*.ts'],
    tests: ['packages/families/src/**/*.test.ts'],
  },
  solver: {
    rules: ['apps/solver/src/judge/**/*.ts'],
    tests: ['apps/solver/src/judge/**/*.test.ts'],
  },
  ledger: {
    rules: [
      'packages/ledger/src/policies/{check,rule,policySchema}*.ts',
      'packages/ledger/src/holds/{decide,holdState}*.ts',
    ],
    tests: ['packages/ledger/src/**/*.test.ts'],
  },
}
