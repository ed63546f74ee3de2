import { imageOf, type SiteMap } from '../api/sites';

/** The image of a site's floor in a drawing whose unit is a metre and whose y points down. */
export function MapImage({ site, map: m }: { site: string; map: SiteMap }) {
  const [wide, high] = [m.width * m.resolution_m, m.height * m.resolution_m];
  const turn = (-(m.theta_rad ?? 0) * 180) / Math.PI;
  return (
    <image
      href={imageOf(site, m)}
      width={wide}
      height={high}
      y={-high}
      preserveAspectRatio="none"
      transform={`translate(${m.x_m} ${-m.y_m}) rotate(${turn})`}
      className="floor-map"
      data-testid="floor-map"
    />
  );
}
