export { confidential, type Holder, placeTokenHolder } from './tokenHolders.ts'
