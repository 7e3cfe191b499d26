// Before the first end-to-end test: services that tests start run from their bundle, which must be of this source.
import { bundle } from '../bundle.mjs'

export default async () => {
  await bundle()
}
