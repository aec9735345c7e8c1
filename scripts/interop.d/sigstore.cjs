// Verifies a bundle's Sigstore form with Sigstore's own verifier and a key of one's own: sigstore.cjs BUNDLE KEY.pub ARTIFACT.
const crypto = require("node:crypto");
const fs = require("node:fs");
const { bundleFromJSON } = require("@sigstore/bundle");
const { TrustedRoot } = require("@sigstore/protobuf-specs");
const { toSignedEntity, toTrustMaterial, Verifier } = require("@sigstore/verify");

const [directory, publicKey, artifact] = process.argv.slice(2);
const bundle = bundleFromJSON(JSON.parse(fs.readFileSync(`${directory}/conformance.sigstore.json`, "utf8")));
// No service of Sigstore's is trusted, and none is asked.
const root = TrustedRoot.fromJSON({
  mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
  tlogs: [], certificateAuthorities: [], ctlogs: [], timestampAuthorities: [],
});
const key = { publicKey: crypto.createPublicKey(fs.readFileSync(publicKey)), validFor: () => true };
const verifier = new Verifier(toTrustMaterial(root, () => key), { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
try {
  verifier.verify(toSignedEntity(bundle));
} catch (error) {
  if (error.code !== "SIGNATURE_ERROR") throw error;
  console.error(`rejected: ${error.message}`);
  process.exit(1);
}
// It does not compare the subject of a statement.
const found = crypto.createHash("sha256").update(fs.readFileSync(artifact)).digest("hex");
const statement = JSON.parse(bundle.content.dsseEnvelope.payload);
if (!statement.subject.some((subject) => subject.digest.sha256 === found)) {
  console.error(`rejected: it is not about sha256:${found}`);
  process.exit(1);
}
